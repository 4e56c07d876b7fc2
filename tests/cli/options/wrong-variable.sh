#!/bin/sh
# C011: a wrong value in the environment is named with its variable.
PITOT_DURATION=forever "$PITOT" -f csv -- true
