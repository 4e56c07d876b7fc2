#!/bin/sh
# an export of nothing is refused.
"$PITOT" export
