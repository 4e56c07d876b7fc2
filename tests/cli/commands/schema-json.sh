#!/bin/sh
# C040 C054: pitot schema --json is JSON and has what the text has.
"$PITOT" schema --json | /usr/bin/python3 -c '
import json, sys
tables = {t["name"]: t for t in json.load(sys.stdin)["tables"]}
columns = {c["name"]: c for t in tables.values() for c in t["columns"]}
print(columns["vCpuTime"]["unit"], columns["vCpuTime"]["type"], columns["vCpuTime"]["timed"])
print(columns["vMemoryFree"]["unit"], columns["vMemoryPercent"]["type"])
assert all(c["help"] for c in columns.values())'
