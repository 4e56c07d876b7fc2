#!/bin/sh
# a page that does not exist is refused with those there are.
"$PITOT" docs html
