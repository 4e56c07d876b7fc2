#!/bin/sh
# C028 C029 C030 C031: integers beyond 2^53 are exact in each format; what is missing is an empty cell.
cp -r "$FIXTURES/v2/proc" proc
sed -i 's/^ctxt .*/ctxt 9007199254740993/' proc/stat
sed -i '/^SwapFree/d' proc/meminfo
"$PITOT" -q -f csv,tsv,jsonl,json -t 50 -o out --path.procfs proc --path.sysfs "$FIXTURES/v2/sys" -- true
"$SOURCE/tests/cli/cells" out/*-????????????.csv vCpuContextSwitches vSwapFree vSwapUsed vSwapTotal
grep -o '"vCpuContextSwitches":{[^,]*' "$(ls out/*-?????????????.json | head -n 1)"
grep -o '"vCpuContextSwitches":[0-9]*' "$(ls out/*-????????????.jsonl)" | sort -u
/usr/bin/python3 - <<'END'
import glob
names, row = [line.split('\t') for line in open(glob.glob('out/*-????????????.tsv')[0])][:2]
print(row[names.index('vCpuContextSwitches')], repr(row[names.index('vSwapFree')]))
END
