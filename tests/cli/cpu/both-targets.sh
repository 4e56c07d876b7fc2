#!/bin/sh
# C241: a command and a process at once are refused.
"$PITOT" cpu --pid 1 -- true
