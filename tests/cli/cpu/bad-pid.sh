#!/bin/sh
# C241: what is not a process id is refused.
"$PITOT" cpu --pid 12x
