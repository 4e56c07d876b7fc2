#!/bin/sh
# C021 C022 C023 C024 C025: a recorded run is made into every format, later and elsewhere.
"$PITOT" -q -f csv -t 50 -o out -- sleep 0.1
"$PITOT" export out -f csv,tsv,jsonl,json,parquet -o made
"$SOURCE/tests/cli/names" made
cmp "$(ls out/*-????????????.csv)" "$(ls made/*-????????????.csv)" && echo "the same CSV"
