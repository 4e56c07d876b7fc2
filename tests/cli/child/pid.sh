#!/bin/sh
# C004: --pid watches a running process, ends with it, and never signals it.
sh -c 'trap "echo signalled" INT TERM HUP USR1 CONT; sleep 0.5; echo "ended by itself"' &
"$PITOT" -q -f csv -t 50 -p --pid $! -o out
wait $!
"$SOURCE/tests/cli/cells" out/*.processes.csv --all pIsRecorded=1 pName | sort -u
