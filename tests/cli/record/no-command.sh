#!/bin/sh
# C002: without a command the machine is recorded, here until the duration is over.
"$PITOT" -q -f csv -t 50 -d 300ms -o out
lines=$(wc -l <"$(ls out/*-????????????.csv)")
[ "$lines" -ge 4 ] && echo "samples were taken"
