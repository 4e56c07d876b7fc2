#!/bin/sh
# C018: a run can be exported while it is still recording.
"$PITOT" -q -f csv -t 50 -o out -- sh -c 'sleep 0.3; "$PITOT" export -f csv -o made "$PITOT_RUN"'
[ "$(wc -l <"$(ls made/*-????????????.csv)")" -ge 3 ] && echo "samples so far"
