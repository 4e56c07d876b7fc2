#!/bin/sh
# C242: profiles that cannot be read or compared are refused with words, and nothing is written.
printf 'main;a 50\n' >good.folded
printf 'main;a fifty\n' >bad.folded
for files in 'show bad.folded' 'diff good.folded missing.folded' 'show good.txt' 'diff good.folded' \
    'show good.folded -o good.pdf'; do
    "$PITOT" cpu $files -o out.html || echo "exit $?"
done
"$PITOT" cpu show -q good.folded -o good.pitotprof
"$PITOT" cpu diff good.folded good.pitotprof && echo same
head -c 100 good.pitotprof >cut.pitotprof
"$PITOT" cpu show cut.pitotprof || echo "exit $?"
ls
