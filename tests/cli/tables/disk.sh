#!/bin/sh
# C065 C066 C067 C068 C069 C070 C071 C072 C073 C074 C133: whole disks of the mock tree, no parts.
"$PITOT" -q -f csv -t 50 -p -o out --path.procfs "$FIXTURES/v2/proc" --path.sysfs "$FIXTURES/v2/sys" \
    --path.rootfs "$FIXTURES/v2" -- sleep 0.1
"$SOURCE/tests/cli/cells" out/*-????????????.csv vDiskReadBytes vDiskWriteBytes \
    vDiskSuccessfulReads vDiskSuccessfulWrites vDiskReadTime vDiskWriteTime vDiskIOTime \
    vDiskIOInProgress vDiskSectorReads vDiskSectorWrites vDiskMergedReads vDiskMergedWrites \
    vDiskWeightedIOTime
"$SOURCE/tests/cli/cells" out/*.disks.csv --all dName | sort | uniq
