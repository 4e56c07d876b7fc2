#!/usr/bin/python3
"""An inference engine with scripted answers: vLLM's names, values by a script.

    tests/verdicts/scripted_engine.py SECONDS NAME=VALUE ...

Gauges are values; counters and latencies are growth a second: of the sum and the count of a
histogram, ttft=0.2:5 are five requests per second of 0.2 s each, and 0.2:5+2:1 one more of 2 s.
Listens on any port, which Pitot finds."""
import http.server
import sys
import threading
import time

SECONDS = float(sys.argv[1])
SAID = dict(word.split('=') for word in sys.argv[2:])
GAUGES = {'running': 'num_requests_running', 'waiting': 'num_requests_waiting',
          'kv': 'kv_cache_usage_perc'}
COUNTERS = {'preemptions': 'num_preemptions_total', 'tokens': 'generation_tokens_total',
            'prompt_tokens': 'prompt_tokens_total', 'finished': 'request_success_total'}
LATENCIES = {'ttft': 'time_to_first_token_seconds', 'e2e': 'e2e_request_latency_seconds',
             'queue': 'request_queue_time_seconds', 'prefill': 'request_prefill_time_seconds',
             'decode': 'request_decode_time_seconds', 'token': 'inter_token_latency_seconds'}
BOUNDS = [0.001 * 1.5 ** i for i in range(28)]
START = time.monotonic()


def histogram(name, parts, elapsed):
    pairs = [tuple(map(float, part.split(':'))) for part in parts.split('+')]
    yield f'# TYPE vllm:{name} histogram'
    for bound in BOUNDS:
        below = sum(int(rate * elapsed) for value, rate in pairs if value <= bound)
        yield f'vllm:{name}_bucket{{model_name="m",le="{bound}"}} {below}'
    count = sum(int(rate * elapsed) for _, rate in pairs)
    yield f'vllm:{name}_bucket{{model_name="m",le="+Inf"}} {count}'
    yield f'vllm:{name}_sum{{model_name="m"}} {sum(v * int(r * elapsed) for v, r in pairs)}'
    yield f'vllm:{name}_count{{model_name="m"}} {count}'


def lines():
    elapsed = time.monotonic() - START
    for word, value in SAID.items():
        if word in GAUGES:
            yield f'# TYPE vllm:{GAUGES[word]} gauge'
            yield f'vllm:{GAUGES[word]}{{model_name="m"}} {value}'
        elif word in COUNTERS:
            name = COUNTERS[word]
            yield f'# TYPE vllm:{name} counter'
            yield f'vllm:{name}{{model_name="m"}} {int(float(value) * elapsed)}'
        else:
            yield from histogram(LATENCIES[word], value, elapsed)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self): # the name is Python's
        body = ('\n'.join(lines()) + '\n').encode()
        self.send_response(200 if self.path == '/metrics' else 404)
        self.send_header('Content-Type', 'text/plain; version=0.0.4')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
time.sleep(SECONDS)
