#!/bin/sh
# C014: a command that a signal ends gives 128 + its number, and the summary names it.
"$PITOT" -f csv -t 50 -o out -- sh -c 'kill -KILL $$'
