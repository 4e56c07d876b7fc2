#!/bin/sh
# a directory without a run is said to be so.
mkdir out
"$PITOT" export out -f csv
