#!/bin/sh
# C231: --method timer samples a command by its own CPU clocks and keeps its exit code and output
programs=$(dirname "$PITOT")/tests/profile
"$PITOT" cpu --method timer --rate 499 --top 2 -o cpu.folded -- "$programs/profile-burner" shares ||
    echo "exit code $?"
# 300 of 400 ms
awk '{ all += $NF } /three_quarters/ { most += $NF }
     END { print "three_quarters:", (most > 0.6 * all && most < 0.9 * all) ? "3/4" : most "/" all }' cpu.folded
"$PITOT" cpu --quiet --method timer -o quiet.folded -- "$programs/profile-burner" signal ||
    echo "exit code $?"
cut -d' ' -f1 quiet.folded | tr ';' '\n' | grep -x 'handler\|interrupted\|profile-burner' | sort -u
