#!/bin/sh
# Prolog= of slurm.conf: records each node for as long as a job has it, beside whatever the job does
# itself. The recording ends in epilog.sh. A monitor is no reason to keep a job from running: what
# goes wrong here is passed over.
set -u
runs=${PITOT_NODE_RUNS:-/var/spool/pitot}/$SLURM_JOB_ID
mkdir -p "$runs" || exit 0

# Slurm ends what a prolog leaves in its session: the pid is written from a new one, and waited for.
setsid -f sh -c 'echo $$ >"$0/pid"; exec pitot -q -p -t 5s -o "$0/node-$(hostname -s)" "$@"' \
    "$runs" --tag "job=$SLURM_JOB_ID" --tag "user=${SLURM_JOB_USER:-}" \
    </dev/null >/dev/null 2>"$runs/pitot.log"
tries=0
while [ ! -s "$runs/pid" ] && [ $((tries += 1)) -le 50 ]; do
    sleep 0.1
done
exit 0
