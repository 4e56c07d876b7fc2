#!/bin/sh
# C241: a rate that is too high is refused.
"$PITOT" cpu --rate 10000 -- true
