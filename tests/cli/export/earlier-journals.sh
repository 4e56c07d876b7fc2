#!/bin/sh
# C316: every command that takes a run reads journals of version 0.1.
journals="$SOURCE/tests/fixtures/journal-0.1"
for run in plain processes engine; do
    "$PITOT" export -q -f csv,tsv,jsonl,json,parquet,trace -o files "$journals/$run.pitot"
    "$PITOT" report -q -o "$run.html" "$journals/$run.pitot"
    "$PITOT" top -n 1 "$journals/$run.pitot" >"$run.top"
    "$PITOT" explain "$journals/$run.pitot" | head -n 2
    "$PITOT" energy "$journals/$run.pitot" | grep -E '^(Total|Per)' || true
done
ls files | sed 's/^.*\.//' | sort | uniq -c
# The same files as the program wrote that recorded them.
cksum files/plain.csv files/processes.processes.csv files/engine.engines.csv files/engine.spans.csv
grep -c 'First token, p50' engine.html
grep -o 'CPU-bound[^"<]*' engine.html | head -n 1
grep -c . plain.top processes.top engine.top
"$PITOT" diff "$journals/plain.pitot" "$journals/plain.pitot" | tail -n 1
"$PITOT" merge -q -o merged "$journals/plain.pitot" "$journals/processes.pitot"
"$PITOT" export -q -f csv -o merged merged/*.pitot
cut -d, -f 3 "$(ls merged/*-????????????.csv)" | sort | uniq -c
