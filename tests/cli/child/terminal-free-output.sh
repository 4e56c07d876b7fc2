#!/bin/sh
# C013: with -q the output of the command is all there is.
"$PITOT" -q -f csv -- echo hello | od -c | head -n 1
