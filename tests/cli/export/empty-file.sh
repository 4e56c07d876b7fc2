#!/bin/sh
# an empty file is no journal.
: >x.pitot
"$PITOT" export x.pitot -f csv
