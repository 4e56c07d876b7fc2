#!/bin/sh
# C011: an impossible number of threads is refused.
"$PITOT" demo --threads 9999
