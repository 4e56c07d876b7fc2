#!/bin/sh
# C012: an output directory is made with its parents.
"$PITOT" -q -f csv -o a/b/c -- true
"$SOURCE/tests/cli/names" a/b/c | grep pitot
