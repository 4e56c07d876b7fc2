#!/bin/sh
# C231: a profile without samples says why; a file is written only if one was named
programs=$(dirname "$PITOT")/tests/profile
try() {
    "$PITOT" cpu "$@" || echo "exit code $?"
}
try --method timer --rate 1 -o idle.folded -- true
try --method timer --rate 1 -- true
try --method timer --rate 1 -- sh -c 'exit 3'
try --method timer -o static.folded -- "$programs/profile-signals-static"
try --method python -o other.folded -- true
try --method timer -o absent.folded -- ./no-such-program
try --method timer --rate 1 --lines nosuch.c:f -o lines.folded -- true
ls
wc -c <idle.folded
