#!/bin/sh
# Writes Parquet files with Pitot's writer and has three other readers check them.
#     tests/interop/run.sh [BUILD_DIRECTORY]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build}
ninja -C "$build" tests/interop/make_files >/dev/null
[ -d "$here/node_modules" ] || (cd "$here" && npm ci --silent)
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
"$build/tests/interop/make_files" "$files"
node "$here/check.mjs" "$files"
