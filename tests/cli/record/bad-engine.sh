#!/bin/sh
# C128: an engine without an address is refused.
"$PITOT" -f csv --engine "" -- true
