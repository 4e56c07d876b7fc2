#!/bin/sh
# pitot mark inside the recorded command finds the recording by PITOT_RUN.
cd /; out=$OLDPWD/out
"$PITOT" -q -f csv -t 50 -o "$out" -- sh -c '"$PITOT" mark "warm-up, over"; "$PITOT" mark "the end"'
"$SOURCE/tests/cli/cells" "$out"/*.marks.csv --all mText
