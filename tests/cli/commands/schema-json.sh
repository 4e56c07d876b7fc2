#!/bin/sh
# C040 C054 C314: pitot schema --json is JSON and has what the text has: columns and figures.
"$PITOT" schema --json | /usr/bin/python3 -c '
import json, sys
schema = json.load(sys.stdin)
tables = {t["name"]: t for t in schema["tables"]}
figures = {f["name"]: f for f in schema["figures"]}
columns = {c["name"]: c for t in tables.values() for c in t["columns"]}
print(columns["vCpuTime"]["unit"], columns["vCpuTime"]["type"], columns["vCpuTime"]["timed"])
print(columns["vMemoryFree"]["unit"], columns["vMemoryPercent"]["type"])
assert all(c["help"] and c["title"] for c in columns.values())
assert all(c["form"] for c in columns.values() if c["type"] != "string")
meaning = ["title", "heading", "family", "is_stacked", "form", "base_unit", "is_rate", "better",
           "limit", "full", "importance", "combine", "lasts_s", "words", "role"]
drawn = [c for c in columns.values() if c["kind"] in ("gauge", "counter") and c["type"] != "string"]
assert all(key in c for c in drawn for key in meaning)
assert all(("base_unit" in c) == (c in drawn) for c in columns.values())
print(*(columns["vMemoryFree"][key] for key in ("form", "base_unit", "is_rate", "combine")))
print(*(columns["vDiskReadBytes"][key] for key in ("form", "base_unit", "is_rate", "combine")))
print(*(columns["vMemoryPercent"][key] for key in ("form", "base_unit", "full", "lasts_s")))
keys = ["title", "form", "base_unit", "is_rate", "better", "importance", "together", "help"]
assert all(key in f for f in figures.values() for key in keys)
assert all(f["name"].startswith(f["whose"] + ".") for f in figures.values())
assert all(f["limit"] is None or f["limit"] in figures for f in figures.values())
print(*(figures["cpu.busy"][key] for key in keys))
print(figures["engine.tokens"]["better"], figures["mem.used"]["limit"])'
