#!/bin/sh
# C126: without the endpoint every sample is written, and the engine's row says why it is empty.
"$PITOT" -q -f csv -t 100 -o out --engine http://joe:pw7@127.0.0.1:1/metrics -- sleep 0.8
/usr/bin/python3 - <<'END'
import csv, glob
engines = list(csv.DictReader(open(glob.glob('out/*.engines.csv')[0])))
main, = (name for name in glob.glob('out/*.csv') if name.count('.') == 1)
rows = list(csv.DictReader(open(main)))
last = engines[-1]
print(last['eUrl'], last['eState'], bool(last['eProblem']), last['tokens_generation_total'] == '')
print(len(rows) > 5, all(row['vCpuTime'] for row in rows))
END
