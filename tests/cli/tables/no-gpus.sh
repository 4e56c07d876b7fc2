#!/bin/sh
# C115: a driver that does not start costs the GPUs only.
library=$(dirname "$PITOT")/tests/nvml/libscripted-nvml.so
[ -e "$library" ] || { echo "no scripted NVML"; exit 77; }
echo 'nvmlInit_v2 * !18' >script
PITOT_NVML="$library" SCRIPTED_NVML=script "$PITOT" -q -f csv,json -t 50 -o out -d 0.2
/usr/bin/python3 - <<'END'
import glob, json
snapshot = json.load(open(sorted(glob.glob('out/*-*-*-*-*-*.json'))[-1]))
print(glob.glob('out/*gpu*'), snapshot['nvidia'], 'vCpuTime' in snapshot['cpu'])
print(json.load(open(glob.glob('out/static_*.json')[0]))['nvidia'])
END
