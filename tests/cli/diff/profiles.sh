#!/bin/sh
# C235: several runs on both sides; where both have a profile of CPU time, a differential flame graph.
record() {
    "$PITOT" -q -f csv -t 10000 -o "$1" --path.procfs "$FIXTURES/v2/proc" \
        --path.sysfs "$FIXTURES/v2/sys" --path.rootfs "$FIXTURES/v2" -- true
}
# A profile as a run that was recorded with --cpu has it beside its journal.
profile() {
    printf "$2" >"$1.folded"
    "$PITOT" cpu show -q "$1.folded" -o "$(echo "$1"/*.pitot | sed 's/pitot$/cpu.pitotprof/')"
}
for side in a1 a2 b1 b2; do
    record $side
done
count() {
    "$PITOT" diff --json "$@" | /usr/bin/python3 -c '
import json, sys
found = json.load(sys.stdin)
print(found["runs_a"], found["runs_b"])'
}
count --baseline a1 --baseline a2 b1 b2
mkdir baselines && cp a1/*.pitot a2/*.pitot baselines
count --baseline baselines --baseline a1 b1
"$PITOT" diff a1 b1 -o flame.html >/dev/null || echo "exit $?"
"$PITOT" diff a1 b1 -o flame.jpg || echo "exit $?"
"$PITOT" diff --baseline a1 || echo "exit $?"
"$PITOT" diff a1 b1 b2 || echo "exit $?"
profile a2 'main;fast 90\nmain;slow 10\n'
profile b1 'main;fast 60\nmain;slow 40\n'
"$PITOT" diff --baseline a1 --baseline a2 b1 b2 -o diff.folded | sed -n '/^CPU/,$p'
sort diff.folded
"$PITOT" diff a2 b1 -o diff.html >/dev/null && grep -c 'pitot' diff.html | sed 's/[1-9][0-9]*/some/'
