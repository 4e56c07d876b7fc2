#!/bin/sh
# C011: a tag without = is refused with its form.
"$PITOT" -f csv --tag model -- true
