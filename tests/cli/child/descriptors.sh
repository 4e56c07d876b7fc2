#!/bin/sh
# C013: the command inherits no descriptor of pitot, only what pitot was given.
"$PITOT" -q -f csv -p -- ls /proc/self/fd >inside 7</dev/null
ls /proc/self/fd >outside 7</dev/null
diff outside inside && echo same
