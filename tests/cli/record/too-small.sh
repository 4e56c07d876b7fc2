#!/bin/sh
# C011: values that are too small are refused with the smallest one, and the command does not run.
"$PITOT" --blackbox 0 -- echo ran || echo "exit code $?"
PITOT_BLACKBOX=0 "$PITOT" -- echo ran || echo "exit code $?"
"$PITOT" --blackbox 8M --blackbox-keep 0 -- echo ran || echo "exit code $?"
"$PITOT" -d 0 -- echo ran || echo "exit code $?"
