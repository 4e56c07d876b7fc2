#!/bin/sh
# C129: further fields, the configuration and, with --engine-raw, the histograms of an engine.
"$PITOT" demo --serve --listen unix:socket --threads 1 >where 2>&1 &
server=$!
trap 'kill "$server"; wait "$server" || true' EXIT
while ! [ -s where ]; do sleep 0.05; done
"$PITOT" demo --load unix:socket --requests 2 --concurrency 2 >load
"$PITOT" -q -f csv -t 100 -o out -d 1.5 --engine unix:socket --engine-raw
/usr/bin/python3 - <<'END'
import csv, glob, json
def rows(name):
    return list(csv.DictReader(open(glob.glob(f'out/*.{name}.csv')[0])))
series = {(r['sName'], r['sLabels']): float(r['sValue']) for r in rows('engine_series')}
buckets = [v for (name, _), v in series.items() if name == 'latency_ttft_s_bucket']
print(buckets == sorted(buckets), series['latency_ttft_s_bucket', 'le="+Inf"'])
engine = [r for r in rows('engines') if r['requests_finished_total']][-1]
print(engine['eEngine'], engine['eModel'], 'cache_config.block_size=16' in engine['eConfig'])
print(engine['system_preemptions_total'], engine['latency_decode_s_count'],
      engine['latency_inter_token_s_p50'] == '')
static = json.load(open(glob.glob('out/static_*.json')[0]))
print(static['engines'][0]['config'] == engine['eConfig'])
END
