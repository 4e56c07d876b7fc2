#!/bin/sh
# what is wrong with pushing is told before anything is recorded.
"$PITOT" record --otlp ftp://collector -- true || echo $?
"$PITOT" record --remote-write http://127.0.0.1:9 --push-label 'a b=c' -- true || echo $?
export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9 OTEL_EXPORTER_OTLP_PROTOCOL=grpc
"$PITOT" record -- true || echo $?
ls
"$PITOT" record --otlp off --remote-write localhost:9090 -- true
