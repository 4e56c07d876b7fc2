#!/bin/sh
# C128: an engine that speaks something else than HTTP is refused, and the command does not run.
"$PITOT" -f csv --engine ftp://127.0.0.1 -- echo ran
