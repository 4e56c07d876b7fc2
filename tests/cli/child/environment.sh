#!/bin/sh
# C013: the command sees the environment it was given, and PITOT_RUN with the path of its run.
A=1 "$PITOT" -q -f csv -o out -- sh -c 'echo "A=$A"; test -f "$PITOT_RUN" && echo "a run"'
