#!/bin/sh
# C290: the page of a run has the carbon of the region that report is given, over that of the recording.
if "$PITOT" report . 2>&1 | grep -q "no report page"; then
    echo "built without npm"
    exit 77
fi
"$PITOT" -q -f csv -t 20 -o out --region PL --collect cpu,mem --path.procfs "$FIXTURES/v2/proc" \
    --path.sysfs "$FIXTURES/v2/sys" --path.rootfs "$FIXTURES/v2" -d 100ms
cat >carbon.py <<'END'
import json, re, sys
page = open(sys.argv[1], encoding='utf-8').read()
text = re.search(r'<script id="report-data" type="application/json">(.*?)</script>', page, re.S)[1]
figures = json.loads(text)['energy']['figures']
electricity, intensity, pue, co2e = (figures[name]['value'] for name in
                                     ('electricity', 'carbon_intensity', 'pue', 'co2e'))
print(figures['carbon_intensity']['method'], intensity, pue,
      abs(co2e / (electricity * pue * intensity) - 1) < 1e-6)
END
"$PITOT" report out -q -o recorded.html
python3 carbon.py recorded.html
"$PITOT" report out -q -o given.html --region FR --pue 1.5
python3 carbon.py given.html
