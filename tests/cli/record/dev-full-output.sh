#!/bin/sh
# C012: /dev/full as output directory is refused.
"$PITOT" -f csv -o /dev/full -- touch ran || code=$?
ls
exit $code
