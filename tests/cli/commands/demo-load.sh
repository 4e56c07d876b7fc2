#!/bin/sh
# C125: pitot demo --load drives a server on a UNIX socket and says what its clients saw.
"$PITOT" doctor --json | grep -q "is not installed" && { echo "no HTTP modules"; exit 77; }
"$PITOT" demo --serve --self-load --listen "unix:$PWD/socket" --requests 4 --concurrency 2 \
    --threads 1 >out
sed -e "s|$PWD|.|" -e 's/[0-9.][0-9.]* \(s\|ms\|tokens\)/N \1/g' -e 's/  */ /g' out
ls
