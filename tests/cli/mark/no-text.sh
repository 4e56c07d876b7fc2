#!/bin/sh
# a mark without a text is refused.
"$PITOT" mark
