#!/bin/sh
# C241: a file whose ending says no format is refused before the command runs.
"$PITOT" cpu -o profile.txt -- touch ran || code=$?
[ ! -e ran ] || echo "the command ran"
exit $code
