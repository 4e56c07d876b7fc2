#!/bin/sh
# Writes Parquet files with Pitot's writer and has three other readers check them: files of nasty
# values against the values themselves, and a recorded run against its own CSV. Event files of
# libpitot are read by another reader, too, and profiles: each format, as others read it, against
# the collapsed stacks.
#     tests/interop/run.sh [PITOT]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
pitot=${1:-$here/../../build/pitot}
build=$(dirname "$pitot")
ninja -C "$build" tests/interop/make_files tests/interop/make_profiles tests/e2e/export-workload \
    >/dev/null
# Not `npm ci`: it wants the packages of every platform, which not every registry has.
is_installed() {
    [ -e "$here/node_modules/.package-lock.json" ] &&
        [ ! "$here/package.json" -nt "$here/node_modules/.package-lock.json" ]
}
if ! is_installed && ! (cd "$here" && npm install --no-save --silent); then
    echo "1..0 # SKIP the packages of tests/interop/package.json cannot be fetched"
    [ -z "${CI:-}" ] && exit 77
    exit 1
fi
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT

"$build/tests/interop/make_files" "$files"
node "$here/check.mjs" "$files"

"$pitot" -q -o "$files/run" -t 20 -f parquet,csv -p --tag interop=yes -- \
    sh -c '"$0" mark "a, \"quoted\" mark"; "$0" mark "$1"; exec sleep 0.5' "$pitot" \
    "$(printf 'C:\\temp \t\001 \303\274 \360\237\230\200 \377')"
"$pitot" schema --json >"$files/schema.json"
node "$here/check_run.mjs" "$files/run" "$files/schema.json"

mkdir "$files/export"
"$build/tests/e2e/export-workload" "$files/export" >/dev/null
node "$here/check_events.mjs" "$files/export"
mkdir "$files/profiles"
"$build/tests/interop/make_profiles" "$files/profiles" 5000
node "$here/check_profiles.mjs" "$files/profiles" "$pitot"
