#!/bin/sh
# C241: a rate of --cpu that no kernel takes is refused before anything runs.
exec "$PITOT" --cpu=10000 -o out -- touch ran
