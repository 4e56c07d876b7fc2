#!/bin/sh
# C013: stdin, stdout and stderr of the command are untouched.
printf 'one\ntwo\n' | "$PITOT" -q -f csv -t 50 -- sh -c 'cat; echo "to stderr" >&2'
