#!/bin/sh
# C242: without its module the profiler says which package is missing, and does not run the command.
PITOT_MODULES=$PWD "$PITOT" cpu -- touch ran || code=$?
[ ! -e ran ] || echo "the command ran"
exit $code
