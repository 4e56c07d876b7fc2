#!/bin/sh
# C234: a short run is inconclusive, with the reason; a run that is not there is an error.
"$PITOT" -q -f csv -t 10000 -o out --path.procfs "$FIXTURES/v2/proc" --path.sysfs "$FIXTURES/v2/sys" \
    --path.rootfs "$FIXTURES/v2" -- true
"$PITOT" explain out | sed -n "2s/short: .*/short/p"
"$PITOT" explain out --json | /usr/bin/python3 -c '
import json, sys
found = json.load(sys.stdin)
print(found["status"], found["verdicts"], "too short" in found["because"])'
"$PITOT" explain nowhere || echo "exit $?"
"$PITOT" explain || echo "exit $?"
