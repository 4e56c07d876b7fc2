#!/bin/sh
# without its module a server tells which package is missing; the rest works.
PITOT_MODULES=$PWD "$PITOT" demo --serve || code=$?
PITOT_MODULES=$PWD "$PITOT" demo --seconds 1 --threads 1 >out
exit $code
