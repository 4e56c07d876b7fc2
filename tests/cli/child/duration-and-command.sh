#!/bin/sh
# C014: after -d the recording is finished, the command goes on, and its exit code is still handed on.
"$PITOT" -f csv -t 50 -d 200ms -o out -- sh -c '
n=0; until ls out | grep -q csv || [ $n -ge 200 ]; do sleep 0.1; n=$((n + 1)); done
ls out | grep -q csv && echo "files are there"; exit 4' || code=$?
exit $code
