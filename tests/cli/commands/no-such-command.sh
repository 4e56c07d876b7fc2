#!/bin/sh
# C011: a word that is no command is an error with a hint.
"$PITOT" frobnicate
