#!/bin/sh
# C128: --engine off stands alone, wherever it stands.
"$PITOT" -f csv --engine localhost:8000 --engine off -- true
