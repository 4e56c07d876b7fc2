#!/bin/sh
# variables of OpenTelemetry for a protocol that Pitot does not speak keep nobody from recording.
export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9 OTEL_EXPORTER_OTLP_PROTOCOL=grpc
"$PITOT" record -o out -f csv -- true 2>&1 | grep OTEL
"$PITOT" record -q --otlp off -o out -f csv -- true
