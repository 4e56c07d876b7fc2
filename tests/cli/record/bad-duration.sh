#!/bin/sh
# C011: a duration with an unknown unit is refused with the known ones.
"$PITOT" -f csv -d 5x -- true
