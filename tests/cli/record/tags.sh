#!/bin/sh
# --tag labels the run; the last of equal keys is kept as given.
"$PITOT" -q -f csv -o out --tag model=llama --tag "note=a = b" -- true
sed -n '/"tags"/,/}/p' out/static_*.json
