#!/bin/sh
# C011: an option without its value is named.
"$PITOT" -o
