#!/bin/sh
# C011: a word that is not a command is an error with a hint.
"$PITOT" frobnicate
