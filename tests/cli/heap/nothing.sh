#!/bin/sh
# C244: a heap profile without samples says why, and the command keeps its exit code
programs=$(dirname "$PITOT")/tests/unit
try() {
    "$PITOT" heap "$@" || echo "exit code $?"
}
try -o static.folded -- "$programs/heap-static"
try -o own.folded -- "$programs/heap-own-malloc"
try -o little.folded -- true
try -o none.folded --heap all -- true
try -o absent.folded -- ./no-such-program
try -o quiet.folded --quiet --heap all -- "$programs/heap-workload" exact
ls
