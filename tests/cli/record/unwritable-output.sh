#!/bin/sh
# C012: a directory that cannot be written is an error before the command is run.
if [ "$(id -u)" = 0 ]; then
    "$PITOT" -f csv -o /proc/self/pitot -- touch ran || code=$?
else
    mkdir proc && chmod 500 proc
    "$PITOT" -f csv -o proc/pitot -- touch ran || code=$?
fi
ls -A | grep -v proc || true
exit $code
