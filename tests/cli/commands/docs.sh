#!/bin/sh
# man page, completion and the list of metrics come from the tables of the program.
"$PITOT" docs man | head -n 5
"$PITOT" docs bash >completion
bash -n completion && echo "bash understands it"
"$PITOT" docs metrics | head -n 1
