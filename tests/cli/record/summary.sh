#!/bin/sh
# C004: at the end a summary says how long, how many samples, how the command ended, where files are.
"$PITOT" -f csv -t 100 -o out -- sleep 0.3
