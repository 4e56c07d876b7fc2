#!/bin/sh
# C290: RAPL counters are recorded, carried over their end, and added up without counting twice.
cp -r "$FIXTURES/v2/sys" sys
zone() {
    mkdir -p "sys/class/powercap/$1"
    echo "$2" >"sys/class/powercap/$1/name"
    echo "$3" >"sys/class/powercap/$1/energy_uj"
    echo 262143328850 >"sys/class/powercap/$1/max_energy_range_uj"
}
zone intel-rapl:0 package-0 262142328850
zone intel-rapl:0:0 core 500
zone intel-rapl:0:1 dram 1000000
zone intel-rapl-mmio:0 package-0 7
cat >work <<'END'
cd sys/class/powercap
echo 2000000 >intel-rapl:0/energy_uj
echo 900500 >intel-rapl:0:0/energy_uj
echo 1500000 >intel-rapl:0:1/energy_uj
END
"$PITOT" -q -f csv -t 10000 -o out --path.procfs "$FIXTURES/v2/proc" --path.sysfs sys \
    --path.rootfs "$FIXTURES/v2" --carbon-intensity 500 --pue 1.5 -- sh work
cut -d, -f3,4,6 out/*.energy.csv
"$PITOT" energy out --price-kwh 0.36 --currency EUR --json | /usr/bin/python3 -c '
import json, sys
report = json.load(sys.stdin)
for s in report["sources"]:
    print(s["name"], s["counted"], round(s["value"], 9), s["provenance"])
for key in ("energy", "co2e", "cost", "energy_per_request"):
    f = report["figures"][key]
    print(key, f["value"] and "%.9g" % f["value"], f["unit"], f["provenance"])
print(report["attribution"])'
