#!/bin/sh
# C241: an ending of no format is refused before the run is looked for.
"$PITOT" export out --profile cpu -o b.txt
