#!/bin/sh
# C011: a wrong value in the file is named with file, line and key.
export XDG_CONFIG_HOME=config
mkdir -p config/pitot
printf 'format = csv\ninterval = often\n' >config/pitot/pitot.conf
"$PITOT" -- true
