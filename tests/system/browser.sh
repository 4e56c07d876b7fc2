# Read by the scripts that test pages: ends them, as skipped, where there is no Chromium or no
# package to drive it. `here` is the directory of the scripts.
skip() {
    echo "1..0 # SKIP $1"
    [ -z "${CI:-}" ] && exit 77
    exit 1
}
command -v chromium >/dev/null || skip "no chromium"
if [ ! -d "$here/node_modules/playwright-core" ] &&
    ! (cd "$here" && npm install --no-save --silent >&2); then
    skip "the packages of tests/system/package.json cannot be fetched"
fi
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
