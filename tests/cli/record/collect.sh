#!/bin/sh
# --collect and --no-collect choose the collectors; what is left out has no cells and no files.
"$PITOT" -q -f csv -t 50 -o out --collect cpu,mem -- true
"$SOURCE/tests/cli/names" out
"$SOURCE/tests/cli/cells" out/*-????????????.csv vDiskReadBytes vNetworkBytesSent
"$PITOT" -q -f csv -t 50 -o most --no-collect cpu,containers -- true
"$SOURCE/tests/cli/cells" most/*-????????????.csv vCpuTime
"$SOURCE/tests/cli/names" most
