#!/bin/sh
# C038 C117 C118 C119 C120 C121 C122 C123 C124 C125 C128: what an engine counted is in the files.
"$PITOT" demo --serve --listen unix:socket --threads 1 >where 2>&1 &
server=$!
trap 'kill "$server"; wait "$server" || true' EXIT
while ! [ -s where ]; do sleep 0.05; done
"$PITOT" demo --load unix:socket --requests 3 --concurrency 2 >load
VLLM_METRICS_URL=unix:socket "$PITOT" -q -f csv,json -t 100 -o out -d 1.5
/usr/bin/python3 - <<'END'
import csv, glob, json
main, = (name for name in glob.glob('out/*.csv') if name.count('.') == 1)
rows = [row for row in csv.DictReader(open(main)) if row['requests_finished_total']]
words = [line.split() for line in open('load')]
said = {line[0]: float(line[1]) for line in words if line[0] in ('requests', 'prompt', 'generated')}
told = {name: float(rows[-1][name]) for name in (
    'system_requests_running', 'system_requests_waiting', 'cache_kv_usage_percent',
    'requests_finished_total', 'tokens_prompt_total', 'tokens_generation_total',
    'latency_ttft_s_sum', 'latency_e2e_s_sum')}
print(*list(told.values())[:4])
print(told['tokens_prompt_total'] == said['prompt'] > 0)
print(told['tokens_generation_total'] == said['generated'] > 0)
print(0 < told['latency_ttft_s_sum'] <= told['latency_e2e_s_sum'])
snapshot = json.load(open(glob.glob(f'out/*-{rows[-1]["timestamp"]}.json')[0]))
print(all(snapshot['vllm'][name] == value for name, value in told.items()))
END
