#!/bin/sh
# C240: pitot top prints what a mock machine has, with its own numbers.
"$PITOT" top -n 1 -t 50 --engine off --sort rss --path.procfs "$FIXTURES/v2/proc" \
    --path.sysfs "$FIXTURES/v2/sys" --path.rootfs "$FIXTURES/v2" | sed '1s/^.*  load/load/'
