#!/bin/sh
# C012: a file where the output directory should be is an error, and the file stays as it is.
echo precious >out
"$PITOT" -f csv -o out -- touch ran || code=$?
ls
cat out
exit $code
