#!/bin/sh
# C013: every byte value passes through a pipe unchanged, more than a pipe holds.
/usr/bin/python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 4096)' >bytes
cat bytes | "$PITOT" -q -f csv -t 50 -- cat | cmp - bytes && echo same
