#!/bin/sh
# C005 C006 C007 C008: without flags a run is ./profiler-output with Parquet, 1 s, no processes.
"$PITOT" -q -- true
"$SOURCE/tests/cli/names" profiler-output
grep -A 2 '"formats"\|"interval' profiler-output/static_*.json
