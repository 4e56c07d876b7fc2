#!/bin/sh
# The pages of profiles in a real Chromium: what is drawn against what the collapsed stacks say.
#     tests/system/flame.sh MAKE_PROFILES
# PITOT_SHOTS names a directory to keep screenshots in; docs/flame.png is light.png of it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
skip() {
    echo "1..0 # SKIP $1"
    [ -z "${CI:-}" ] && exit 77
    exit 1
}
command -v chromium >/dev/null || skip "no chromium"
if [ ! -d "$here/node_modules" ] && ! (cd "$here" && npm install --no-save --silent >&2); then
    skip "the packages of tests/system/package.json cannot be fetched"
fi
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
"$1" "$files" 30000
node "$here/flame.mjs" "$files" "${PITOT_SHOTS:-}"
