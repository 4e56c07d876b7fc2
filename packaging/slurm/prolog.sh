#!/bin/sh
# Prolog= of slurm.conf: records each node for the duration of a job, in addition to what the job
# records itself. epilog.sh ends the recording. A monitor must never keep a job from running: errors
# are ignored here.
set -u
runs=${PITOT_NODE_RUNS:-/var/spool/pitot}/$SLURM_JOB_ID
mkdir -p "$runs" || exit 0

# Slurm ends all processes in the session of a prolog, so the recorder runs in a new one, which
# writes its pid; the loop waits for that.
setsid -f sh -c 'echo $$ >"$0/pid"; exec pitot -q -p -t 5s -o "$0/node-$(hostname -s)" "$@"' \
    "$runs" --tag "job=$SLURM_JOB_ID" --tag "user=${SLURM_JOB_USER:-}" \
    </dev/null >/dev/null 2>"$runs/pitot.log"
tries=0
while [ ! -s "$runs/pid" ] && [ $((tries += 1)) -le 50 ]; do
    sleep 0.1
done
exit 0
