#!/usr/bin/python3
"""Metrics of a program with libpitot as a real Prometheus scrapes them, with native histograms.

    tests/system/native_histograms.py EXPORT_WORKLOAD

Prints TAP. Skipped where there is no Prometheus."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.request

from servers import free_port, get, query_value, wait_for

WORKLOAD = sys.argv[1]


def near(value, expected):
    return value is not None and abs(value / expected - 1) < 0.0222


def check_promtool(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        content_type, text = answer.headers['Content-Type'], answer.read().decode()
    assert content_type.startswith('text/plain; version=0.0.4'), content_type
    done = subprocess.run(['promtool', 'check', 'metrics'], input=text, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0 and not done.stdout + done.stderr, done
    assert get(url, 'application/openmetrics-text').endswith('# EOF\n')
    print('ok 1 - C248 C249 C250 C252 C257: promtool has nothing to say about the text')


def check_native(port):
    counted = 'requests_total{code="200"}'
    wait_for('the counter', lambda: query_value(port, counted) == 900)
    print('ok 2 - C257: Prometheus reads the protobuf that it asks for first')
    assert query_value(port, 'count(request_duration_seconds_bucket)') is None, 'not native'
    count = query_value(port, 'histogram_count(request_duration_seconds)')
    assert count == 1000, count
    total = query_value(port, 'histogram_sum(request_duration_seconds)')
    assert abs(total - 500.5) < 1e-9, total
    for q in (0.5, 0.9, 0.95, 0.99):
        found = query_value(port, f'histogram_quantile({q}, request_duration_seconds)')
        assert near(found, q), (q, found)
    print('ok 3 - C249: histogram_quantile() of the native histogram is right within a bucket')


def check_classic(port):
    bucket = 'request_duration_seconds_bucket{le="0.25"}'
    wait_for('the bucket', lambda: query_value(port, bucket))
    assert near(query_value(port, bucket), 250)
    found = query_value(port, 'histogram_quantile(0.5, request_duration_seconds_bucket)')
    assert near(found, 0.5), found
    print('ok 4 - C249: without that feature it reads the classic buckets')


def start_prometheus(directory, target, port, *options):
    directory.mkdir()
    config = directory / 'prometheus.yml'
    config.write_text('scrape_configs: [{job_name: library, scrape_interval: 500ms, '
                      'scrape_timeout: 400ms, '
                      f'static_configs: [{{targets: ["127.0.0.1:{target}"]}}]}}]\n')
    return subprocess.Popen(
        ['prometheus', f'--config.file={config}', f'--storage.tsdb.path={directory / "data"}',
         f'--web.listen-address=127.0.0.1:{port}', '--log.level=error', *options])


def check(directory):
    target, native, classic = free_port(), free_port(), free_port()
    url = f'http://127.0.0.1:{target}/metrics'
    processes = [
        subprocess.Popen([WORKLOAD, '--serve', str(target)]),
        start_prometheus(directory / 'native', target, native,
                         '--enable-feature=native-histograms'),
        start_prometheus(directory / 'classic', target, classic)]
    try:
        wait_for('the program', lambda: get(url))
        check_promtool(url)
        check_native(native)
        check_classic(classic)
    finally:
        for process in processes:
            process.terminate()
            process.wait()


if not shutil.which('prometheus'):
    print('1..0 # SKIP no Prometheus')
    sys.exit(77)
print('1..4')
with tempfile.TemporaryDirectory(dir='/var/tmp') as place:
    check(pathlib.Path(place))
