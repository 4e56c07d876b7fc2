#!/bin/sh
# C011: a pid that does not exist is said to be so, and nothing is left behind.
"$PITOT" -f csv --pid 2147483646 -o out && exit; code=$?
ls
exit $code
