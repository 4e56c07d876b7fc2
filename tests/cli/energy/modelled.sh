#!/bin/sh
# C290: without counters the figures are modelled, say so, and can be computed again differently.
"$PITOT" -f csv -t 50 -o out --collect cpu,mem --path.procfs "$FIXTURES/v2/proc" \
    --path.sysfs "$FIXTURES/v2/sys" --path.rootfs "$FIXTURES/v2" -- sleep 0.1 2>&1 |
    grep "^Energy" | sed "s/[0-9.]* J/X J/; s/[0-9.]* g/X g/"
"$PITOT" energy out --region FR | grep -E "^(Carbon|PUE|Cost)" | tr -s " " |
    sed -E "s/(Carbon) [0-9.]+ g/\1 X g/"
"$PITOT" energy out --region FR --price-hour 3.6 --currency USD | grep -c "^Cost .*measured: time x"
