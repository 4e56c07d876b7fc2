#!/bin/sh
# C011: an unknown collector is named, with those there are.
"$PITOT" -f csv --collect cpu,gpux -- true
