#!/bin/sh
# C241: --cpu says that there is nothing to profile.
exec "$PITOT" --cpu -d 1 -o out
