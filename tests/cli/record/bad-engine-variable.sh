#!/bin/sh
# C128: a wrong address in the environment is refused too.
VLLM_METRICS_URL=http:// "$PITOT" -f csv -- true
