#!/bin/sh
# C008 C011: a recording without anything to record is refused.
"$PITOT" -f csv --collect cpu,mem --no-collect mem,cpu -- echo ran
