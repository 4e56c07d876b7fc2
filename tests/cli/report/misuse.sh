#!/bin/sh
# A report is of one run.
"$PITOT" report
