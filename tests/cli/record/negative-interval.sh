#!/bin/sh
# C006 C011: a negative interval is refused.
"$PITOT" -f csv -t -5 -- true
