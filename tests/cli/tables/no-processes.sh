#!/bin/sh
# C008: without -p there is no table of processes and pNumProcesses is empty.
"$PITOT" -q -f csv,json -t 50 -o out -- true
"$SOURCE/tests/cli/names" out | grep -c processes || true
"$SOURCE/tests/cli/cells" out/*-????????????.csv pNumProcesses
