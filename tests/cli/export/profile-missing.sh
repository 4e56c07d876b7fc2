#!/bin/sh
# C241: a run without a profile says how to get one.
"$PITOT" -q -t 50 -o out -- true
"$PITOT" export out --profile cpu -o b.html 2>&1 | sed 's/[0-9a-f-]\{36\}/UUID/'
