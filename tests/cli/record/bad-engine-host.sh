#!/bin/sh
# C128: an engine without a host is refused.
"$PITOT" -f csv --engine http:// -- true
