#!/bin/sh
# Runs of ranks become one that is exported with their labels; wrong operands are reported.
for rank in 1 0; do
    SLURM_PROCID=$rank SLURM_NTASKS=2 "$PITOT" -q -f csv -t 10000 -o runs \
        --path.procfs "$FIXTURES/v2/proc" --path.sysfs "$FIXTURES/v2/sys" \
        --path.rootfs "$FIXTURES/v2" -- true
done
"$PITOT" merge runs -o merged 2>/dev/null | sed 's/ *[0-9]*  *[0-9.]*  \(reference\|same\)/ N S \1/'
"$PITOT" merge runs -o runs -q # a merged run beside them is left out next time
"$PITOT" merge runs -o again -q
"$PITOT" export merged -f csv -q
cut -d, -f3 merged/*-????????????.csv | sort -u
cut -d, -f3 merged/*.disks.csv | sort -u
"$PITOT" explain merged | sed -n '2s/short: .*/short/p'
"$PITOT" merge || echo "exit $?"
"$PITOT" merge nowhere || echo "exit $?"
"$PITOT" merge runs/"$(ls runs | grep -m1 pitot$)" || echo "exit $?"
"$PITOT" merge merged/*.pitot runs 2>&1 | sed 's#merged/[^ ]*#MERGED#'
"$PITOT" energy merged 2>&1 | sed 's#merged/[^ ]*#MERGED#'
