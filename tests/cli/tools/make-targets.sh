#!/bin/sh
# C001 C132: make builds the program and no tests, and make test runs every suite in every build and counts.
command -v make >/dev/null || { echo "make is missing"; exit 77; }
make -n -C "$SOURCE" all MESON=meson | grep -o '^ninja -C build program$'
make -n -C "$SOURCE" test MESON=meson | grep -o '^tools/run-tests build:[^ ]* build-asan'
