#!/bin/sh
# C053 C054 C055 C056 C057 C058 C059 C060 C061 C062 C063 C064 C133: memory of the mock tree.
"$PITOT" -q -f csv -t 50 -p -o out --path.procfs "$FIXTURES/v2/proc" --path.sysfs "$FIXTURES/v2/sys" \
    --path.rootfs "$FIXTURES/v2" -- sleep 0.1
"$SOURCE/tests/cli/cells" out/*-????????????.csv vMemoryTotal vMemoryFree vMemoryUsed \
    vMemoryBuffers vMemoryCached vMemoryPercent vSwapTotal vSwapFree vSwapUsed vPgFault \
    vMajorPageFault
