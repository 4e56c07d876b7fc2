#!/bin/sh
# C241: a profile is exported into a file that has to be named.
"$PITOT" export out --profile cpu
