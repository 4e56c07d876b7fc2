#!/bin/sh
# a mark without any recording says where it looked.
"$PITOT" mark "hello"
