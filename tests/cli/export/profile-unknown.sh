#!/bin/sh
# C241: a kind of profile that there is not is refused.
"$PITOT" export out --profile disk -o b.html
