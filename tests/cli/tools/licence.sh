#!/bin/sh
# C134: the licence is MIT.
head -n 1 "$SOURCE/LICENSE"
grep -o 'to deal *$\|without restriction' "$SOURCE/LICENSE"
