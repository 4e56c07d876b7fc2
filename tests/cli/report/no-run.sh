#!/bin/sh
# A run that is not there is named.
if "$PITOT" report . 2>&1 | grep -q "no report page"; then
    echo "built without npm"
    exit 77
fi
"$PITOT" report nowhere
