#!/bin/sh
# C015: an output directory that was there before stays when the command cannot be run.
mkdir out
"$PITOT" -q -f csv -o out -- no-such-command-here || code=$?
ls -A . out
exit $code
