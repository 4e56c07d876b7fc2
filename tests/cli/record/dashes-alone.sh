#!/bin/sh
# C011: -- without a command is refused.
"$PITOT" -f csv --
