#!/bin/sh
# C135 C317: rules of a file are watched while recording, columns and figures: what goes on is a row of .alerts.
cat >rules <<'END'
[memory]
metric = mem.vMemoryTotal
above = 1
[used]
metric = mem.used
above = 1
[never]
metric = mem.vMemoryTotal
below = 1
END
record() {
    "$PITOT" -q -f csv -t 10000 -o out --path.procfs "$FIXTURES/v2/proc" \
        --path.sysfs "$FIXTURES/v2/sys" --path.rootfs "$FIXTURES/v2" --alerts "$1" -- true
}
record rules
cut -d, -f3-7 out/*.alerts.csv
echo '[wrong]' >wrong
record wrong || echo "exit $?"
printf '[a]\nmetric = mem.colour\nabove = 1\n' >unknown
record unknown || echo "exit $?"
record missing || echo "exit $?"
ls out/*.pitot | wc -l
