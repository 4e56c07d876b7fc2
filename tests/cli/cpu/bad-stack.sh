#!/bin/sh
# C242: only sizes of stacks that were tried are taken.
"$PITOT" cpu --stack 7 -- true
