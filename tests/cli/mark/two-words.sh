#!/bin/sh
# a mark of two arguments is refused with the hint to quote it.
"$PITOT" mark hello there
