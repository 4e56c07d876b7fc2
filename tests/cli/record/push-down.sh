#!/bin/sh
# an unreachable receiver is reported, and the samples are queued.
push="--state-dir state --remote-write http://user:secret@127.0.0.1:1"
"$PITOT" record -q -o out -f csv -d 0.1 $push
"$PITOT" record -o out -f csv -d 0.1 $push 2>&1 | grep remote-write |
    sed "s/remote-write-[0-9a-f]*/HASH/; s/[0-9]* \(ms\|points\|requests\)/N \1/g
         s/Couldn't connect/Could not connect/" # as libcurl 8 says
ls state/push | sed 's/[0-9a-f]*$/HASH/'
