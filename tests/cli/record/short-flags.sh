#!/bin/sh
# C003 C005 C006 C007 C008 C009: -o -t -f -p -d -q -- COMMAND, the short forms of the flags.
"$PITOT" -o out -t 50 -f csv -p -d 10 -q -- sleep 0.2
"$SOURCE/tests/cli/names" out
"$SOURCE/tests/cli/cells" out/*-????????????.csv pNumProcesses | grep -c '^pNumProcesses [1-9]'
