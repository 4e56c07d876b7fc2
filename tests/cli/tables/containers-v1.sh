#!/bin/sh
# C084 C085 C086 C087 C088 C089 C090 C091 C092 C093 C094 C095 C097 C098 C099: containers, v1.
"$PITOT" -q -f csv,json -t 50 -o out --path.procfs "$FIXTURES/v1/proc" \
    --path.sysfs "$FIXTURES/v1/sys" --path.rootfs "$FIXTURES/v1" -- sleep 0.1
for id in d0c4e2f1a3b5968778695a4b3c2d1e0fd0c4e2f1a3b5968778695a4b3c2d1e0f \
    8e5a0b1c2d3e4f5061728394a5b6c7d88e5a0b1c2d3e4f5061728394a5b6c7d8; do
    "$SOURCE/tests/cli/cells" out/*.containers.csv cId=$id cId cCgroupVersion cCpuTime \
        cCpuTimeUserMode cCpuTimeKernelMode cMemoryUsed cMemoryMaxUsed cDiskReadBytes \
        cDiskWriteBytes cNetworkBytesRecvd cNetworkBytesSent cNumProcessors cNumProcesses cPgFault \
        cMajorPageFault cWorkingSet cMemoryLimit cMemoryTightestLimit cOomKills cCpuLimit \
        cCpuTightestLimit cCpuPeriods cCpuThrottledPeriods cCpuThrottledTime cPidsCurrent
done
"$SOURCE/tests/cli/cells" out/*.container_cpus.csv --all cId=$id cCpu=0 cCpuTime | sort -u
/usr/bin/python3 - $id <<'END'
import glob, json, sys
snapshot = json.load(open(sorted(glob.glob('out/*-*-*-*-*-*.json'))[-1]))
container, = (c for c in snapshot['containers'] if c['cId'] == sys.argv[1])
assert all(list(timed) == ['value', 'time'] for timed in container['perCpu'].values())
print('perCpu', {name: timed['value'] for name, timed in container['perCpu'].items()})
assert 'container_cpus' not in snapshot
END
