#!/bin/sh
# of several runs in a directory the newest is taken, and that is said.
"$PITOT" -q -f csv -o out -- true
touch -d '1 hour ago' out/*.pitot
ls out/*.pitot >first
"$PITOT" -q -f csv -o out -- true
"$PITOT" export out -f tsv
ls out/*-????????????.tsv | grep -c -v "$(basename "$(cat first)" .pitot)"
