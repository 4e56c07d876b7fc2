#!/bin/sh
# C131: a layout that does not exist is refused and nothing is made.
"$SOURCE/scripts/generate_testdata.sh" tree v3 2>err && status=0 || status=$?
sed 's|^[^ ]*/||' err >&2
ls -A | grep -v '^err$' || true
exit "$status"
