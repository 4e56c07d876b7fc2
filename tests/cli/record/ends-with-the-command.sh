#!/bin/sh
# C003 C004: the recording ends when the command ends, with a last sample after its last act.
"$PITOT" -q -f csv -t 60000 -o out -- sh -c 'sleep 0.2; touch done'
ls done
tail -n +2 "$(ls out/*-????????????.csv)" | wc -l
