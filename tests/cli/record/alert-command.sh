#!/bin/sh
# A command runs when an alert goes on, with the alert in its environment; its failure is reported.
printf '[memory]\nmetric = mem.vMemoryTotal\nabove = 1\n' >rules
record() {
    "$PITOT" -q -f csv -t 10000 -o out --path.procfs "$FIXTURES/v2/proc" \
        --path.sysfs "$FIXTURES/v2/sys" --path.rootfs "$FIXTURES/v2" --alerts rules "$@" -- true
}
record --alert-command 'env | grep PITOT_ALERT | sort >seen; echo to standard error'
sed 's/TIME=[0-9]*/TIME=N/; s#RUN=.*pitot$#RUN=JOURNAL#' seen
"$PITOT" -f csv -t 10000 -o out --path.procfs "$FIXTURES/v2/proc" --path.sysfs "$FIXTURES/v2/sys" \
    --path.rootfs "$FIXTURES/v2" --alerts rules --alert-command 'exit 3' -- true 2>&1 | grep 'exited with 3'
