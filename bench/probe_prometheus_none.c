#include "probe_peers.h"

#include <stddef.h>

bench_calls *const bench_prometheus_count = NULL;
bench_calls *const bench_prometheus_observe = NULL;
