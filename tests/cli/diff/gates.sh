#!/bin/sh
# C235: gates are checked before runs are read; runs that are too short decide nothing: exit code 3.
for side in a b; do
    "$PITOT" -q -f csv -t 10000 -o $side --path.procfs "$FIXTURES/v2/proc" \
        --path.sysfs "$FIXTURES/v2/sys" --path.rootfs "$FIXTURES/v2" -- true
done
"$PITOT" diff a b --gate 'cpu_time>+10%' | tail -n 4 || true
"$PITOT" diff a b --gate 'cpu_time>+10%' >/dev/null || echo "exit $?"
"$PITOT" diff a b >/dev/null && echo "exit $?"
"$PITOT" diff --baseline a b --json | /usr/bin/python3 -c '
import json, sys
found = json.load(sys.stdin)
print(found["status"], found["runs_a"], found["runs_b"], [c["key"] for c in found["config"]])'
"$PITOT" diff a nowhere || echo "exit $?"
"$PITOT" diff a || echo "exit $?"
"$PITOT" diff a b --gate 'cpu_time>10' || echo "exit $?"
"$PITOT" diff a b --gate 'no_such_metric<-3%' | grep no_such || true
"$PITOT" diff a b --json --markdown || echo "exit $?"
