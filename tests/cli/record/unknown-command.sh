#!/bin/sh
# C003 C011: a word that is no command is taken for a forgotten --.
"$PITOT" sleep 1
