#!/bin/sh
# C013 C014: a reader that goes away ends the command by SIGPIPE, as it would without pitot.
{ "$PITOT" -q -f csv -t 50 -- sh -c 'yes; echo "yes ended with $?" >&2'; } | head -n 1
