#!/bin/sh
# C240: a ring keeps the time before a failure as a run of its own, with the reason.
record() {
    "$PITOT" -q -t 10 -o out --blackbox 4M --path.procfs "$FIXTURES/v2/proc" \
        --path.sysfs "$FIXTURES/v2/sys" --path.rootfs "$FIXTURES/v2" "$@" || echo "exit $?"
}
record -- sh -c 'exit 3'
ls out | sed 's/[0-9]*T[0-9]*Z/TIME/; s/[0-9a-f-]\{36\}/UUID/' | sort
for kept in out/kept-*; do
    "$PITOT" explain "$kept" | sed -n '2p'
    "$PITOT" export "$kept" -q -f csv -o made
    cut -d, -f3 made/*.marks.csv
done
rm -r out made
record -- sh -c 'kill -9 $$'
"$PITOT" explain out/kept-*-signal --json | grep -A1 '"kind"'
rm -r out
record -- sh -c '"$PITOT" mark --keep "look here"'
ls out | sed 's/[0-9]*T[0-9]*Z/TIME/; s/[0-9a-f-]\{36\}/UUID/' | sort
record --blackbox 1M -- true
record --blackbox 1x -- true
record --cpu -- true
