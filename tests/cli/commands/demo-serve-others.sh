#!/bin/sh
# C011: pitot demo --serve listens for this machine only.
"$PITOT" demo --serve --listen 0.0.0.0:0 || code=$?
"$PITOT" demo --serve --listen nowhere || code=$?
"$PITOT" demo --self-load || code=$?
exit $code
