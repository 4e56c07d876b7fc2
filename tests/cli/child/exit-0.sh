#!/bin/sh
# C014: the exit code is that of the command: 0.
"$PITOT" -q -f csv -- true
