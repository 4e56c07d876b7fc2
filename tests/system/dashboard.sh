#!/bin/sh
# The dashboard of `pitot serve` in a real Chromium: with a real engine, and with tables that no
# Pitot has.
#     tests/system/dashboard.sh PITOT
# PITOT_SHOTS names a directory to keep screenshots in; docs/dashboard.png is dashboard-light.png of
# it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/browser.sh"
"$1" report . 2>&1 | grep -q "no report page" && skip "built without npm"
"$1" -q -o "$files/runs" -t 100 -- "$1" demo --seconds 1 >/dev/null
printf 'a-token-of-the-test\n' >"$files/token"
chmod 600 "$files/token"
printf '[memory-is-used]\nmetric = mem.vMemoryUsed\nabove = 1\n' >"$files/rules"
printf '[never]\nmetric = mem.vMemoryUsed\nabove = 1000000000000000\n' >>"$files/rules"
node "$here/dashboard.mjs" "$1" "$files" "${PITOT_SHOTS:-}"
