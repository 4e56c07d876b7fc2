#!/bin/sh
# C014: the largest exit code passes unchanged.
"$PITOT" -q -f csv -- sh -c 'exit 255'
