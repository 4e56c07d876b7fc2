#!/bin/sh
# a mark of two lines or none is refused.
"$PITOT" -q -f csv -t 50 -o out -- sh -c '"$PITOT" mark "a
b"; "$PITOT" mark ""'
