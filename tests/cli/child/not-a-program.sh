#!/bin/sh
# C015: a directory as command gives 126.
"$PITOT" -f csv -o out -- / || code=$?
ls -A
exit $code
