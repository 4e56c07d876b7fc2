#!/bin/sh
# an empty file is not a journal.
: >x.pitot
"$PITOT" export x.pitot -f csv
