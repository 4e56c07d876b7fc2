#!/bin/sh
# pitot mark --run DIR reaches a recording from outside, --run JOURNAL too.
"$PITOT" -q -f csv -t 50 -o out -- sh -c 'touch started; while [ ! -e stop ]; do sleep 0.02; done' &
while [ ! -e started ]; do sleep 0.02; done
"$PITOT" mark --run out "one"
"$PITOT" mark --run out/*.pitot "two"
touch stop
wait $!
"$SOURCE/tests/cli/cells" out/*.marks.csv --all mText
"$SOURCE/tests/cli/names" out
