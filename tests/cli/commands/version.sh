#!/bin/sh
# C001: one program; pitot version, --version and -V print the same line.
"$PITOT" version
"$PITOT" --version
"$PITOT" -V
