#!/bin/sh
# C011: a container that does not exist is named, with what may be given.
"$PITOT" -f csv --container no-such-thing -d 1 -o out && exit; code=$?
ls
exit $code
