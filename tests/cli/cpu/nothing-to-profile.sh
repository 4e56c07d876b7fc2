#!/bin/sh
# C241: a profile needs a command or a process.
"$PITOT" cpu
