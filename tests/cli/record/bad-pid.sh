#!/bin/sh
# C011: a pid that is no number is refused.
"$PITOT" -f csv --pid 12x
