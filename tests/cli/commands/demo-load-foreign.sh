#!/bin/sh
# C011: pitot demo --load sends nothing to other machines.
"$PITOT" demo --load http://192.0.2.1:8000
