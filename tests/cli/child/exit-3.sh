#!/bin/sh
# C014: the exit code is that of the command: 3.
"$PITOT" -f csv -t 50 -o out -- sh -c 'exit 3'
