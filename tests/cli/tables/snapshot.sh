#!/bin/sh
# C019 C020 C021 C025 C026 C027 C028 C032 C033 C034 C035 C036 C039: a JSON snapshot and its names.
"$PITOT" -q -f json,csv -t 50 -p -o out --path.procfs "$FIXTURES/v2/proc" \
    --path.sysfs "$FIXTURES/v2/sys" --path.rootfs "$FIXTURES/v2" -- sleep 0.1
/usr/bin/python3 - <<'END'
import csv, glob, json, os, re
run, = (os.path.basename(name)[:-6] for name in glob.glob('out/*.pitot'))
assert re.fullmatch('[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}', run)
assert json.load(open(f'out/static_{run}.json'))['uuid'] == run
assert all(run in name for name in os.listdir('out')), 'a file without the uuid'
names = sorted(glob.glob(f'out/{run}-*.json'))
rows = list(csv.DictReader(open(f'out/{run}.csv')))
assert len(names) == len(rows), 'a snapshot for each sample'
first = json.load(open(names[0]))
floats = {'vLoadAvg', 'vLoadAvg5', 'vLoadAvg15', 'vCpuMhz', 'vMemoryPercent'}
assert names[0] == f'out/{run}-{first["timestamp"]}.json' and rows[0]['timestamp'] == str(first['timestamp'])
print(*first)
for section in ('cpu', 'mem', 'disk', 'net'):
    for key, timed in first[section].items():
        assert list(timed) == ['value', 'time'], key
        assert isinstance(timed['time'], int) and abs(timed['time'] - first['timestamp']) < 60000, key
        assert str(timed['time']) == rows[0][key + 'T'], 'the table keeps the time of ' + key
print(first['cpu']['vCpuTime']['value'], first['cpu']['vLoadAvg']['value'])
for section in ('cpu', 'mem'): # a float stays one when it is whole
    for key, timed in first[section].items():
        assert isinstance(timed['value'], float) == (key in floats), key
print(type(first['containers']).__name__, *first['processes'])
print(first['processes']['pNumProcesses']['value'], len(first['processes']['processes']))
END
