#!/bin/sh
# C241: a profile that is not possible is said, and the recording goes on without it.
PITOT_MODULES=$PWD "$PITOT" -q --cpu -f csv -t 50 -o out -- sh -c 'echo ran; exit 7' || code=$?
"$SOURCE/tests/cli/names" out | grep '^UUID\.\(pitot\|csv\|cpu\.\)'
exit $code
