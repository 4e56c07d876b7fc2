#!/bin/sh
# C011 C125: an engine that cannot be one is refused before anything runs.
for engine in ftp://127.0.0.1 http:// ''; do
    "$PITOT" -o out --engine "$engine" -- touch ran || echo "$?"
done
"$PITOT" -o out --engine 8000 --engine off -- touch ran || echo "$?"
ls
