#!/bin/sh
# C011: a command and --pid together are refused.
"$PITOT" -f csv --pid 1 -- true
