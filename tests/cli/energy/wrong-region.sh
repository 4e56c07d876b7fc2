#!/bin/sh
# C011 C290: a region that is not in the table is refused before anything is recorded.
"$PITOT" -f csv -o out --region Atlantis -- true
