#!/bin/sh
# C243: a difference compares shares of the whole, whatever the length of the runs.
printf '%s\n' 'main;a 50' 'main;b 50' >before.folded
printf '%s\n' 'main;a 300' 'main;b 60' 'main;c 40' >after.folded
"$PITOT" cpu diff before.folded after.folded -o diff.folded -o diff.svg -o diff.html
cat diff.folded
grep -c ', change ' diff.svg
