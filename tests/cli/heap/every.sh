#!/bin/sh
# C244: with --heap all the sums of a heap profile are exact, by function and in total
workload=$(dirname "$PITOT")/tests/unit/heap-workload
"$PITOT" heap --heap all --top 2 -o heap.folded -o heap.pitotprof -- "$workload" exact ||
    echo "exit code $?"
sed -n 's/.*;\(keep_small\|keep_large\|pass_by\) /\1 /p' heap.folded
"$PITOT" heap show heap.pitotprof --json --top 2 --metric allocated |
    sed -E '/"command"/d;/seconds"/d;/"timeline"/,/^  \}/d;s/("blocks"|"bytes"|"samples"): [0-9]{4,}/\1: N/'
