#!/bin/sh
# pressure of the mock tree.
"$PITOT" -q -f csv -t 50 -p -o out --path.procfs "$FIXTURES/v2/proc" --path.sysfs "$FIXTURES/v2/sys" \
    --path.rootfs "$FIXTURES/v2" -- sleep 0.1
for resource in cpu memory io; do
    "$SOURCE/tests/cli/cells" out/*.pressure.csv psiResource=$resource psiResource psiSomeTotal \
        psiFullTotal psiSomeAvg10
done
