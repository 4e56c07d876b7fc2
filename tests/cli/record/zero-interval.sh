#!/bin/sh
# C006 C011: an interval of 0 is refused with the shortest one.
"$PITOT" -f csv -t 0 -- true
