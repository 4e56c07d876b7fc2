#!/bin/sh
# C011: a line of the file that is not a key and value is named.
export XDG_CONFIG_HOME=config
mkdir -p config/pitot
printf 'format = csv\nwhat is this\n' >config/pitot/pitot.conf
"$PITOT" -- true
