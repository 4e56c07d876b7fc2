#!/bin/sh
# C007 C011: an unknown format is named, with those there are.
"$PITOT" -f csv,xml -- true
