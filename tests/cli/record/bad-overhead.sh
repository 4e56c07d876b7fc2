#!/bin/sh
# C011: a budget that is not a percentage is refused.
"$PITOT" -f csv --max-overhead lots -- true
