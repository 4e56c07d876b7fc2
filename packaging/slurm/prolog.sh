#!/bin/sh
# Prolog= of slurm.conf: records each node for as long as a job has it, beside whatever the job does
# itself. The recording ends in epilog.sh.
set -u
runs=/var/spool/pitot/$SLURM_JOB_ID
mkdir -p "$runs" || exit 0 # a monitor is no reason to keep a job from running
pitot -q -p -t 5s -o "$runs/node-$(hostname -s)" --tag "job=$SLURM_JOB_ID" \
    --tag "user=${SLURM_JOB_USER:-}" </dev/null >/dev/null 2>"$runs/pitot.log" &
echo $! >"$runs/pid"
exit 0
