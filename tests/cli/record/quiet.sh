#!/bin/sh
# -q and NO_COLOR: nothing on stderr, no escape codes anywhere.
"$PITOT" -q -f csv -t 50 -o out -- true
NO_COLOR=1 "$PITOT" -f csv -t 50 -o out -- true 2>err
tr -d -c '\033' <err | wc -c
