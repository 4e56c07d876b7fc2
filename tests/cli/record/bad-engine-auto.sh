#!/bin/sh
# C128: --engine auto stands alone.
"$PITOT" -f csv --engine auto --engine localhost:8000 -- true
