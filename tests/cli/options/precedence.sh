#!/bin/sh
# C006: the command line beats the environment, that the file, that the default.
export XDG_CONFIG_HOME="$PWD/config"
interval() { "$PITOT" -q -f csv -o "$@" -- true; sed -n 's/.*"interval_ms": \([0-9]*\).*/\1/p' "$1"/static_*.json; }
interval default
mkdir -p config/pitot
echo 'interval = 400' >config/pitot/pitot.conf
interval file
PITOT_INTERVAL=300 interval environment
PITOT_INTERVAL=300 interval command-line -t 200
