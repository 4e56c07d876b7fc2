#!/bin/sh
# C007 C011: an empty format list is refused.
"$PITOT" -f "" -- true
