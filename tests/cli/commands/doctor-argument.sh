#!/bin/sh
# doctor takes no arguments.
"$PITOT" doctor me
