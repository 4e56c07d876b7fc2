#!/bin/sh
# pitot demo runs a workload that says what it did.
"$PITOT" demo --seconds 1 --threads 1 | tail -n 1 | tr -d "0-9"
