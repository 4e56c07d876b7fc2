#!/bin/sh
# The pages of profiles in a real Chromium: what is drawn against what the collapsed stacks say.
#     tests/system/flame.sh MAKE_PROFILES
# PITOT_SHOTS names a directory to keep screenshots in; docs/flame.png is light.png of it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/browser.sh"
"$1" "$files" 30000
node "$here/flame.mjs" "$files" "${PITOT_SHOTS:-}"
