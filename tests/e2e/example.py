#!/usr/bin/python3
"""The complete example of docs/LIBRARY.md does what it says, alone and under the recorder."""
import gzip
import json
import subprocess

from harness import ENVIRONMENT, WORKLOAD, Skip, equal, main, run, table

REQUESTS, TOKENS = 200, 16


def parse(text):
    try:
        from prometheus_client import parser
    except ImportError:
        raise Skip('python3-prometheus-client is not installed') from None
    return {sample.name: sample.value for family in parser.text_string_to_metric_families(text)
            for sample in family.samples if 'le' not in sample.labels}


def check_metrics(text):
    samples = parse(text)
    equal(samples['tokens_total'], REQUESTS * TOKENS)
    equal(samples['requests_total'], REQUESTS)
    equal(samples['request_errors_total'], 0)
    equal(samples['first_token_seconds_count'], REQUESTS)
    equal(samples['request_duration_seconds_count'], REQUESTS)
    equal(samples['active_requests'], 0)
    assert samples['request_duration_seconds_sum'] > samples['first_token_seconds_sum'] > 0
    assert samples['memory_usage_bytes'] > 2**20 and samples['tokens_per_second'] > 0


def check_health(health):
    equal(health['status'], 'healthy')
    equal(health['error_rate'], 0)
    assert health['latency_p95'] >= health['latency_p50'] > 0 and health['probe_seconds'] > 0
    assert health['memory_usage_mb'] > 1


def check_trace(directory):
    trace = json.loads(gzip.decompress((directory / 'library-trace.json.gz').read_bytes()))
    names = [event['name'] for event in trace['traceEvents'] if event['ph'] == 'X']
    equal({name: names.count(name) for name in names},
          {'request': REQUESTS, 'prefill': REQUESTS, 'decode': REQUESTS, 'serving': 1})
    threads = {event['tid'] for event in trace['traceEvents'] if event['ph'] == 'X'}
    equal(len(threads), 1)


def check(directory, printed):
    """What it prints: a text of metrics, two lines of JSON, two of words."""
    metrics, rest = printed.split('\n{', 1)
    health, report, summary, totals = ('{' + rest).splitlines()
    check_metrics(metrics)
    check_health(json.loads(health))
    equal(json.loads(report)['metric_summaries'].keys(), {'first_token_p50'})
    assert summary.startswith('Peak RAM: ') and ', Wall Time: ' in summary, summary
    equal(totals, f'{REQUESTS * TOKENS} tokens, 0 records dropped')
    check_trace(directory)


def alone(directory):
    """C248 C258 C216: alone it renders its metrics and health and writes a trace"""
    done = subprocess.run([WORKLOAD], capture_output=True, env=ENVIRONMENT, cwd=directory,
                          text=True, check=False)
    equal(done.returncode, 0, done.stderr)
    check(directory, done.stdout)


def recorded(directory):
    """C248 C216: under the recorder it does the same, and all of it is in the run as well"""
    code, out, err = run('-q', '-f', 'csv', '-t', 50, '-o', directory, '--', WORKLOAD,
                         cwd=directory)
    equal(code, 0, err)
    check(directory, out)
    equal(len(table(directory, 'spans')), 3 * REQUESTS + 1)
    metrics = {row['aName']: row for row in table(directory, 'app_metrics')}
    equal(float(metrics['tokens_total']['aValue']), REQUESTS * TOKENS)
    equal(int(metrics['request_duration_seconds']['aCount']), REQUESTS)


main(alone, recorded)
