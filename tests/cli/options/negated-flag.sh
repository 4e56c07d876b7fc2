#!/bin/sh
# a flag of the environment is taken back with --no-.
PITOT_PROCESSES=1 "$PITOT" -q -f csv -o with -- true
PITOT_PROCESSES=1 "$PITOT" -q -f csv -o without --no-processes -- true
"$SOURCE/tests/cli/names" with | grep -c processes
"$SOURCE/tests/cli/names" without | grep -c processes || true
