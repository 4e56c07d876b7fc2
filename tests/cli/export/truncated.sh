#!/bin/sh
# C018: of a journal that was cut off every whole sample is exported, and that is said.
"$PITOT" -q -f csv -t 50 -o out -- sleep 0.2
journal=$(ls out/*.pitot)
head -c $(($(wc -c <"$journal") - 300)) "$journal" >cut.pitot
"$PITOT" export cut.pitot -f csv -o made
all=$(wc -l <"$(ls out/*-????????????.csv)")
head -n "$(wc -l <made/cut.csv)" "$(ls out/*-????????????.csv)" | cmp - made/cut.csv && echo "a part"
[ "$(wc -l <made/cut.csv)" -ge $((all - 2)) ] && echo "nearly all"
