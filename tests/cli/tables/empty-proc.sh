#!/bin/sh
# C031 C133: with an empty procfs the run goes on, every cell is empty and the messages say why.
mkdir proc sys
"$PITOT" -f csv -t 50 -p -o out --path.procfs proc --path.sysfs sys -- true
"$SOURCE/tests/cli/cells" out/*-????????????.csv vCpuTime vMemoryTotal vNetworkBytesSent
