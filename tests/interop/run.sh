#!/bin/sh
# Writes Parquet files with Pitot's writer and has three other readers check them.
#     tests/interop/run.sh [PITOT]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(dirname "${1:-$here/../../build/pitot}")
ninja -C "$build" tests/interop/make_files >/dev/null
# Not `npm ci`: it wants the packages of every platform, which not every registry has.
[ -d "$here/node_modules" ] || (cd "$here" && npm install --no-save --silent)
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
"$build/tests/interop/make_files" "$files"
node "$here/check.mjs" "$files"
