#!/bin/sh
# C131 C133: a process name with blanks and parentheses is in the tree as the kernel would show it.
cat "$FIXTURES/v2/proc/4001/comm"
cut -c 1-30 "$FIXTURES/v2/proc/4001/stat"
tr '\0' '|' <"$FIXTURES/v2/proc/4001/cmdline"
