#!/bin/sh
# C241: a file with an unknown extension is refused before the command runs.
"$PITOT" cpu -o profile.txt -- touch ran || code=$?
[ ! -e ran ] || echo "the command ran"
exit $code
