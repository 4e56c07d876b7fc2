#!/bin/sh
# C013: limit of open files, signal mask and ignored signals are those pitot was started with.
status='ulimit -n; grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status'
ulimit -n 100
sh -c "$status" >outside
"$PITOT" -q -f csv -p -- sh -c "$status" >inside
diff outside inside && echo same
trap '' PIPE USR2 HUP
sh -c "$status" >outside
"$PITOT" -q -f csv -p -- sh -c "$status" >inside
diff outside inside && echo same
