#!/bin/sh
# C011: a pid that is not a number is refused.
"$PITOT" -f csv --pid 12x
