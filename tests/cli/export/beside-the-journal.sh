#!/bin/sh
# without -o the files come to stand beside the journal; -q says nothing.
"$PITOT" -q -f csv -t 50 -o out -- true
"$PITOT" export -q out/*.pitot -f tsv
"$SOURCE/tests/cli/names" out | grep '^UUID\.tsv$'
