#!/bin/sh
# what cannot be printed is an error.
"$PITOT" schema >/dev/full
