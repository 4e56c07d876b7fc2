#!/bin/sh
# C241: the profile that lies beside a run is written in the format of the file's ending.
"$PITOT" -q -t 50 -o out -- true
echo 'train;main;step 7' >a.folded
journal=$(echo out/*.pitot)
"$PITOT" cpu show -q a.folded -o "${journal%.pitot}.cpu.pitotprof"
"$PITOT" export out --profile cpu -o b.folded
cat b.folded
"$PITOT" export "$journal" --profile cpu -o b.html
grep -c pitot-flame b.html >/dev/null || echo "no flame graph"
