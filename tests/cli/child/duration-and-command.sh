#!/bin/sh
# C014 C321: after -d the command is ended by SIGTERM, and its exit code is handed on.
"$PITOT" -f csv -t 50 -d 2s -o out -- sh -c '
trap "echo told; exit 4" TERM; while :; do sleep 0.02; done' || code=$?
exit $code
