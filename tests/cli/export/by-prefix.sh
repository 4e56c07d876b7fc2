#!/bin/sh
# a run in ./profiler-output is found by the start of its uuid.
"$PITOT" -q -f csv -- true
uuid=$(basename profiler-output/*.pitot .pitot)
"$PITOT" export -q "${uuid%%-*}" -f jsonl
ls profiler-output/"$uuid".jsonl | sed "s/$uuid/UUID/"
