#!/bin/sh
# secrets in the recorded command line and environment do not reach the static file.
API_TOKEN=hunter2 "$PITOT" -q -f csv -o out -- true --token=swordfish https://me:opensesame@host/
grep -c 'hunter2\|swordfish\|opensesame' out/static_*.json out/*.pitot | sed 's/.*://'
