#!/bin/sh
# C234: a run whose recorder was killed can be explained, and says that it was cut off.
"$PITOT" -q -f csv -t 20 -o out -- sh -c 'kill -9 $PPID' 2>/dev/null || echo "exit $?"
"$PITOT" explain out | sed -n "2p"
