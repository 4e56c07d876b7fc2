#!/bin/sh
# C126: with --engine off there is no row of an engine, and the section of the snapshot is empty.
"$PITOT" -q -f csv,json -t 50 -o out --engine off -- true
/usr/bin/python3 - <<'END'
import glob, json
print(glob.glob('out/*engines*'), json.load(open(glob.glob('out/*-*-*-*-*-*.json')[0]))['vllm'])
END
