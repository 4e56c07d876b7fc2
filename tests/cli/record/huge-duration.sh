#!/bin/sh
# C011: a duration beyond what fits is refused.
"$PITOT" -f csv -d 99999999999h -- true
