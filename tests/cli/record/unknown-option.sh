#!/bin/sh
# C011: an unknown option is named, with the nearest known one.
"$PITOT" --formt csv -- true
