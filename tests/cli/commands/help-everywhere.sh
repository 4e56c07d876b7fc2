#!/bin/sh
# C010: every command has --help with its own options.
for command in record export energy report cpu top mark schema doctor demo docs version; do
    "$PITOT" $command --help | sed -n "1,2p"
    "$PITOT" $command -h | grep -c -- "-h, --help"
done
