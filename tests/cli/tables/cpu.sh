#!/bin/sh
# C040 C041 C042 C043 C044 C045 C046 C047 C048 C049 C050 C051 C052 C133: CPU of the mock tree.
"$PITOT" -q -f csv -t 50 -p -o out --path.procfs "$FIXTURES/v2/proc" --path.sysfs "$FIXTURES/v2/sys" \
    --path.rootfs "$FIXTURES/v2" -- sleep 0.1
"$SOURCE/tests/cli/cells" out/*-????????????.csv vCpuTime vCpuTimeUserMode vCpuTimeKernelMode \
    vCpuIdleTime vCpuTimeIOWait vCpuTimeIntSrvc vCpuTimeSoftIntSrvc vCpuNice vCpuSteal \
    vCpuContextSwitches vLoadAvg vCpuMhz
"$SOURCE/tests/cli/cells" out/*.cpus.csv cpuNumber=3 cpuTime cpuIdleTime cpuMhz
