#!/bin/sh
# C011: a budget that is no percentage is refused.
"$PITOT" -f csv --max-overhead lots -- true
