#!/bin/sh
# C011: an unknown format is named.
mkdir out; "$PITOT" export out -f xls
