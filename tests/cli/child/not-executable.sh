#!/bin/sh
# C015: a file that may not be executed gives 126 and leaves nothing behind.
echo hello >plain
"$PITOT" -f csv -o out -- ./plain || code=$?
ls -A
exit $code
