#!/bin/sh
# C005 C006 C007 C008 C009: --output --interval --format --processes --duration --quiet do the same.
"$PITOT" record --output out --interval 50ms --format=csv --processes --duration 10s --quiet \
    -- sleep 0.2
"$SOURCE/tests/cli/names" out
"$SOURCE/tests/cli/cells" out/*-????????????.csv pNumProcesses | grep -c '^pNumProcesses [1-9]'
