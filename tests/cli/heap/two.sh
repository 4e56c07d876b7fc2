#!/bin/sh
# C244: processes of one command are one heap profile; one with its own malloc is not recorded
programs=$(dirname "$PITOT")/tests/unit
"$PITOT" heap --heap all --top 0 -o heap.folded -- \
    sh -c "$programs/heap-own-malloc; $programs/heap-workload exact" || echo "exit code $?"
sed -n 's/.*;\(keep_small\|keep_large\|pass_by\) /\1 /p' heap.folded
