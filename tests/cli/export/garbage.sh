#!/bin/sh
# a file that is not a journal is refused, and no output is written.
/usr/bin/python3 -c 'import sys; sys.stdout.buffer.write(bytes(i * 7 & 255 for i in range(9999)))' >x.pitot
"$PITOT" export x.pitot -f csv -o made && exit; code=$?
ls made
exit $code
