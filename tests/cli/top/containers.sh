#!/bin/sh
# C240: a panel by name, sorted by a heading, as wide as COLUMNS says.
# Rates of a machine that stands still are 0, or unknown until its groups are read a second time.
COLUMNS=70 "$PITOT" top -n 1 -t 50 --engine off --panel containers --sort mem \
    --path.procfs "$FIXTURES/v2/proc" --path.sysfs "$FIXTURES/v2/sys" \
    --path.rootfs "$FIXTURES/v2" | sed '1d; s/0\.00/   -/g; s|0\.0/s|    -|g'
