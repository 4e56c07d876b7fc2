#!/bin/sh
# C100 C101 C102 C103 C104 C133: processes of the mock tree, with blanks and ) in a name.
"$PITOT" -q -f csv -t 50 -p -o out --path.procfs "$FIXTURES/v2/proc" --path.sysfs "$FIXTURES/v2/sys" \
    --path.rootfs "$FIXTURES/v2" -- sleep 0.1
"$SOURCE/tests/cli/cells" out/*-????????????.csv pNumProcesses
"$SOURCE/tests/cli/cells" out/*.processes.csv pId=4002 pName pCmdline pNumThreads \
    pCpuTimeUserMode pCpuTimeKernelMode pChildrenUserMode pChildrenKernelMode \
    pVoluntaryContextSwitches pNonvoluntaryContextSwitches pBlockIODelays pVirtualMemoryBytes \
    pResidentSetSize
"$SOURCE/tests/cli/cells" out/*.processes.csv pId=4001 pName pState pParentId
"$SOURCE/tests/cli/cells" out/*.processes.csv pId=4005 pName pState pVirtualMemoryBytes
