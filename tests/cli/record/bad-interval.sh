#!/bin/sh
# C006 C011: an interval that is no duration is refused with a sample of good ones.
"$PITOT" -f csv -t soon -- true
