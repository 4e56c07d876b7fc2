#!/bin/sh
# C037 C105 C106 C107 C108 C109 C110 C111 C112 C113 C114 C116 C130: eight GPUs of the scripted NVML.
library=$(dirname "$PITOT")/tests/nvml/libscripted-nvml.so
[ -e "$library" ] || { echo "no scripted NVML"; exit 77; }
export PITOT_NVML="$library" SCRIPTED_NVML="$SOURCE/tests/nvml/h100x8.script"
"$PITOT" -q -f csv,json -t 100 -o out --collect gpu -d 1
/usr/bin/python3 - <<'END'
import csv, glob, json
rows = list(csv.DictReader(open(glob.glob('out/*.gpus.csv')[0])))[-8:]
print(*(row['gGpuIndex'] for row in rows))
names = ('gUtilizationGpu', 'gUtilizationMem', 'gMemoryUsedMb', 'gMemoryFreeMb', 'gPowerDrawW',
         'gClockGraphicsMhz', 'gPerfState', 'gMemoryTotalMb', 'gBar1UsedMb', 'gBar1FreeMb',
         'gFanSpeed', 'gPowerLimitW', 'gClockSmMhz', 'gClockMemMhz', 'gPcieTxKbps',
         'gPcieRxKbps', 'gEccSingleBitErrors', 'gEccDoubleBitErrors', 'gProcessCount')
for name in names:
    print(name, *sorted({row[name] for row in rows}))
print(all(45 <= int(row['gTemperatureC']) <= 61 for row in rows))
snapshot = json.load(open(sorted(glob.glob('out/*-*-*-*-*-*.json'))[-1]))
print(len(snapshot['nvidia']), snapshot['nvidia'][7]['gPowerDrawW']['value'])
print(sorted({tuple(gpu['gProcesses']) for gpu in snapshot['nvidia']}))
static = json.load(open(glob.glob('out/static_*.json')[0]))['nvidia']
print(static['gDriverVersion'], static['gCudaVersion'], len(static['gpus']))
print(json.dumps(static['gpus'][0]))
END
