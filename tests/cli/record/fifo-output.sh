#!/bin/sh
# C012: a FIFO as output directory is refused at once, without waiting for a reader.
mkfifo out
"$PITOT" -f csv -o out -- touch ran || code=$?
ls
exit $code
