#!/bin/sh
# a mark for a recording that is over is refused.
"$PITOT" -q -f csv -o out -- true
"$PITOT" mark --run out "too late"
