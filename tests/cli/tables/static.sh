#!/bin/sh
# C020 C130: the keys of the static file, and their values for the mock machine.
"$PITOT" -q -f csv -o out --path.procfs "$FIXTURES/v2/proc" --path.sysfs "$FIXTURES/v2/sys" \
    --path.rootfs "$FIXTURES/v2" -- echo hi >/dev/null
/usr/bin/python3 - <<'END'
import glob, json
static = json.load(open(glob.glob('out/static_*.json')[0]))
print(*static)
for key in ('vId', 'host', 'nvidia', 'kernel_command_line'):
    print(key, json.dumps(static[key]))
END
