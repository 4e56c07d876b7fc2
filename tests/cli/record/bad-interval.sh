#!/bin/sh
# C006 C011: an interval that is not a duration is refused with valid examples.
"$PITOT" -f csv -t soon -- true
