#!/bin/sh
# every generated page of the project is what the program prints: columns, rules, options.
cd "$SOURCE"
tools/check-docs "$PITOT"
