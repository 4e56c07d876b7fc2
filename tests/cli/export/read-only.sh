#!/bin/sh
# a directory that cannot be written is named.
"$PITOT" -q -f csv -o out -- true
"$PITOT" export out -f csv -o /proc/none
