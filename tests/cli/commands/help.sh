#!/bin/sh
# C010: -h prints the commands and the options of record.
"$PITOT" -h
