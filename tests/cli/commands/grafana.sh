#!/bin/sh
# C314: the Grafana dashboard has a chart per family, in the unit of its form, and no raw columns.
"$PITOT" docs grafana | /usr/bin/python3 -c '
import json, sys
page = json.load(sys.stdin)
rows = {row["title"]: row["panels"] for row in page["panels"] if row["type"] == "row"}
assert all(len({chart["title"] for chart in charts}) == len(charts) for charts in rows.values())
assert not any("p50_width" in target["expr"] or "avg300" in target["expr"]
               for charts in rows.values() for chart in charts for target in chart["targets"])
for title in "CPU time by mode, cores", "Memory used", "Memory by use", "Disk busy", "Working set":
    for row, charts in rows.items():
        for chart in charts:
            if chart["title"] == title:
                custom = chart["fieldConfig"]["defaults"].get("custom", {})
                print(row, title, chart["fieldConfig"]["defaults"]["unit"],
                      custom.get("stacking", {}).get("mode", "lines"), len(chart["targets"]),
                      chart["targets"][-1]["legendFormat"], sep=" | ")'
