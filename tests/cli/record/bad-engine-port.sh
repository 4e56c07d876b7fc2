#!/bin/sh
# C128 C011: a port that cannot exist is refused, wherever it stands, and the command does not run.
for engine in 99999 0 nota:url localhost: http://host:65536/metrics 'http://user:pw@[::1]:0'; do
    "$PITOT" -f csv --engine "$engine" -- echo ran || echo "exit code $?"
done
