#!/bin/sh
# The page of a run in a real Chromium: a recording of the demo, held against its own CSV, and a day
# of samples.
#     tests/system/report.sh PITOT MAKE_RUN
# PITOT_SHOTS names a directory to keep screenshots in; docs/report.png is report-light.png of it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/browser.sh"
"$1" report . 2>&1 | grep -q "no report page" && skip "built without npm"
PATH=$(cd "$(dirname "$1")" && pwd):$PATH
"$1" -o "$files/run" -t 50 -p -f csv --report --price-kwh 0.30 --currency EUR --region DE -- \
    sh -c 'pitot mark "first mark" & exec pitot demo --serve --self-load --seconds 8' \
    >/dev/null 2>"$files/summary.txt"
"$1" explain --json "$files/run" >"$files/explained.json"
"$1" energy --json "$files/run" >"$files/energy.json"
cp "$files"/run/*.html "$files/demo.html"
# Where the kernel gives no samples there is no profile.
"$1" -q -o "$files/profiled" -t 100 -f csv -- "$1" cpu -q -o "$files/demo.pitotprof" -- \
    "$1" demo --seconds 3 >/dev/null 2>&1 || rm -f "$files/demo.pitotprof"
if [ -e "$files/demo.pitotprof" ]; then
    "$1" report "$files/profiled" -q --profile "$files/demo.pitotprof" -o "$files/profiled.html"
fi
"$1" -q -o "$files/heap" -t 100 -f csv --heap=16k -- "$1" demo --seconds 3 >/dev/null
"$1" report "$files/heap" -q -o "$files/heap.html"
"$1" export "$files/heap" --profile heap --metric peak -o "$files/heap.folded"
for rank in 0 1; do
    PITOT_RANK=$rank "$1" -q -o "$files/rank$rank" -t 100 -p -f csv -- \
        sh -c 'kept=$(head -c 20000000 /dev/zero | tr "\0" x); sleep 3; : "$kept"' &
done
wait
"$1" merge -q "$files/rank0" "$files/rank1" -o "$files/merged.html" >/dev/null
"$2" "$files/day.pitot" 86400
"$1" report "$files/day.pitot" -q -o "$files/day.html"
rm "$files/day.pitot"
node "$here/report.mjs" "$files" "${PITOT_SHOTS:-}"
