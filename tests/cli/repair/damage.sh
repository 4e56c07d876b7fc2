#!/bin/sh
# C324: pitot repair saves what can be read and keeps the damaged journal; a whole run needs none.
"$PITOT" -q -f csv -t 10000 -o run --path.procfs "$FIXTURES/v2/proc" \
    --path.sysfs "$FIXTURES/v2/sys" --path.rootfs "$FIXTURES/v2" -- true
journal=$(echo run/*.pitot)
uuid=$(basename "$journal" .pitot)
tell() {
    "$@" 2>&1 | sed "s/$uuid/UUID/g; s/[0-9]* bytes/N bytes/"
}
tell "$PITOT" repair -q run
tell "$PITOT" repair run
damage() { # OFFSET FILE
    printf '\377' | dd of="$2" bs=1 seek="$1" conv=notrunc 2>/dev/null
}
damage 5 "$journal"
damage 300 "$journal"
tell "$PITOT" repair run -o saved
cmp run/*.pitot "$journal" && ls saved | sed "s/$uuid/UUID/"
tell "$PITOT" repair run
ls run/*.damaged | sed "s/$uuid/UUID/"
tell "$PITOT" repair run
"$PITOT" export -q -f csv -o exported run && cmp run/$uuid.csv exported/$uuid.csv && echo "the same rows"
"$PITOT" repair || echo "exit $?"
"$PITOT" repair nowhere || echo "exit $?"
