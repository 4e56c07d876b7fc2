#!/bin/sh
# wrong push settings are reported before anything is recorded.
"$PITOT" record --otlp ftp://collector -- true || echo $?
"$PITOT" record --remote-write http://127.0.0.1:9 --push-label 'a b=c' -- true || echo $?
ls
"$PITOT" record --remote-write localhost:9090 -- true
