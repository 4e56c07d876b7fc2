#!/bin/sh
# a run that does not exist is named, with what may be given.
"$PITOT" export no-such-run -f csv
