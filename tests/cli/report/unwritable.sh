#!/bin/sh
# A page that cannot be written is reported.
if "$PITOT" report . 2>&1 | grep -q "no report page"; then
    echo "built without npm"
    exit 77
fi
"$PITOT" -q -o run -f csv -- true
"$PITOT" report run -o nowhere/page.html
