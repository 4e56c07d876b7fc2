#!/bin/sh
# Epilog= of slurm.conf: ends the recording started by prolog.sh and completes its files.
set -u
runs=${PITOT_NODE_RUNS:-/var/spool/pitot}/$SLURM_JOB_ID
[ -f "$runs/pid" ] || exit 0
kill -TERM "$(cat "$runs/pid")" 2>/dev/null
rm -f "$runs/pid"
exit 0
