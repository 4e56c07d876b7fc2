//go:build programs

// Package programs names what is built from the module of Prometheus, so that go.mod and go.sum
// list all that these programs need.
package programs

import (
	_ "github.com/prometheus/prometheus/cmd/prometheus"
	_ "github.com/prometheus/prometheus/cmd/promtool"
)
