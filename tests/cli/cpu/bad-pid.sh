#!/bin/sh
# C241: what is no process id is refused.
"$PITOT" cpu --pid 12x
