#!/bin/sh
# C011: a wrong key in the file is named with file and line.
export XDG_CONFIG_HOME=config
mkdir -p config/pitot
printf 'format = csv\n\ninterwal = 5\n' >config/pitot/pitot.conf
"$PITOT" -- true
