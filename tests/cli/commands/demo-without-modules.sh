#!/bin/sh
# without its module a server names the missing package, and the rest works; without the engine's program there is no demo.
PITOT_MODULES=$PWD "$PITOT" demo --seconds 1 && exit 1
cp "$(dirname "$PITOT")/modules/pitot-demo" .
PITOT_MODULES=$PWD "$PITOT" demo --serve || code=$?
PITOT_MODULES=$PWD "$PITOT" demo --seconds 1 --threads 1 >out
exit $code
