#!/bin/sh
# C004: --pid with -d stops early and leaves the process alone.
sleep 20 &
"$PITOT" -f csv -t 50 --pid $! -d 200ms -o out
kill $! && echo "was still there"
