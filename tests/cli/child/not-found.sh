#!/bin/sh
# C015: a command that does not exist gives 127, a message, and no file or directory is left.
"$PITOT" -f csv -o out -- no-such-command-here || code=$?
ls -A
exit $code
