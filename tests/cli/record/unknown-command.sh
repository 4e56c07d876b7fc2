#!/bin/sh
# C003 C011: a word that is not a command is treated as a forgotten --.
"$PITOT" sleep 1
