#!/bin/sh
# C011 C133: a root of procfs that does not exist is named.
"$PITOT" -f csv --path.procfs ./none -- true
