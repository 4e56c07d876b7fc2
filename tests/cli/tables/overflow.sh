#!/bin/sh
# C031: absurd numbers of the kernel are empty cells, never a wrong number; the rest is recorded.
cp -r "$FIXTURES/v2/proc" proc
sed -i 's/^ctxt .*/ctxt 99999999999999999999999/' proc/stat
sed -i 's/^MemAvailable:.*/MemAvailable: 18446744073709551615 kB/' proc/meminfo
echo garbage >proc/loadavg
: >proc/diskstats
rm proc/self/net/dev
"$PITOT" -q -f csv -t 50 -o out --path.procfs proc --path.sysfs "$FIXTURES/v2/sys" -- true
"$SOURCE/tests/cli/cells" out/*-????????????.csv vCpuContextSwitches vCpuTime vMemoryFree \
    vMemoryPercent vMemoryTotal vLoadAvg vDiskReadBytes vNetworkBytesRecvd vPgFault
