#!/bin/sh
# C011: an unknown short option is named.
"$PITOT" -z -- true
