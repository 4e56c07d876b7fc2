#!/usr/bin/python3
"""What a program records of itself with libpitot, in the files of the run that was around it."""
import os
import pathlib
import re

from harness import PITOT, WORKLOAD, equal, main, run, table

RECORD = ('-q', '-f', 'csv', '-t', 50)
SLACK_NS = 2000 # of the conversion from ticks, between two drains


def check_times(directory, spans):
    """On the clock of the run, and inside of it."""
    samples = [int(row['monotonic_ns']) for row in table(directory)]
    for span in spans:
        start, duration = int(span['sStart']), int(span['sDuration'])
        assert samples[0] <= start, f'{start} is before the run'
        assert 0 <= duration and start + duration <= samples[-1], f'{span} is after the run'


def check_nesting(outers, inners):
    """Of one thread, in order: each inner span lies in its outer one."""
    for outer, inner in zip(outers, inners, strict=True):
        start, end = (int(outer['sStart']), int(outer['sStart']) + int(outer['sDuration']))
        inner_start = int(inner['sStart'])
        assert start - SLACK_NS <= inner_start, f'{inner} begins before {outer}'
        assert inner_start + int(inner['sDuration']) <= end + SLACK_NS, f'{inner} ends after'


def threads(directory):
    """spans of all threads are rows, nested, within the run; counts are what the program counted"""
    code, out, err = run(*RECORD, '-o', directory, '--', WORKLOAD, 'work', 4, 1000)
    equal(code, 0, err)
    span_count, counted = map(int, out.split())
    spans = table(directory, 'spans')
    equal(len(spans), span_count)
    check_times(directory, spans)
    for thread in {span['sThread'] for span in spans}:
        mine = [span for span in spans if span['sThread'] == thread]
        inners = [span for span in mine if span['sName'] == 'inner']
        check_nesting([span for span in mine if span['sName'] == 'outer'], inners)
        equal([int(span['sArgument']) for span in inners], list(range(1000)))
        equal({span['sRequest'] for span in inners}, {'7'})
    metrics = {row['aName']: row for row in table(directory, 'app_metrics')}
    equal(float(metrics['work']['aValue']), counted)
    equal(metrics['work']['aLabels'], 'kind="test"')
    equal(int(metrics['size']['aCount']), 4000)
    equal(float(metrics['size']['aSum']), 4 * 500500.0)
    assert abs(float(metrics['size']['aP90']) / 900 - 1) < 0.011, metrics['size']
    assert 'pitot_dropped' not in metrics
    check_histogram([row for row in table(directory, 'app_histograms') if row['aName'] == 'size'])


def check_histogram(rows):
    """C316: the buckets that grew add up to what was counted: 1 to 1000, four times."""
    counts = {}
    for row in rows:
        bounds = float(row['hAbove']), float(row['hLe'])
        counts[bounds] = counts.get(bounds, 0) + int(row['hCount'])
    equal(sum(counts.values()), 4000)
    for (above, le), count in counts.items():
        equal(count, 4 * sum(above <= value < le for value in range(1, 1001)), f'{above} to {le}')
        assert abs(le / above - 2 ** (1 / 32)) < 1e-12, (above, le)


def forked(directory):
    """a child made by fork has spans of its own"""
    code, out, err = run(*RECORD, '-o', directory, '--', WORKLOAD, 'fork', 100)
    equal(code, 0, err)
    spans = table(directory, 'spans')
    equal(len(spans), int(out))
    equal(len({span['sPid'] for span in spans}), 2)


def killed(directory):
    """a program ended by SIGKILL leaves all its spans"""
    code, _, err = run(*RECORD, '-o', directory, '--', WORKLOAD, 'kill', 500)
    equal(code, 137, err)
    equal(len(table(directory, 'spans')), 1000)


def many_killed(directory):
    """processes that end without a word do not take the place of later ones"""
    code, _, err = run(*RECORD, '-o', directory, '--', 'sh', '-c',
                       'for i in $(seq 300); do "$0" kill 1; sleep 0.02; done', WORKLOAD)
    assert 'more than' not in err, err
    equal(len(table(directory, 'spans')), 600, f'{code} {err}')


def arguments(directory):
    """texts and amounts of work of spans are in the run"""
    code, _, err = run(*RECORD, '-o', directory, '--', WORKLOAD, 'arguments', 6)
    equal(code, 0, err)
    spans = table(directory, 'spans')
    texts = [span for span in spans if span['sName'] == 'with_text']
    works = [span for span in spans if span['sName'] == 'with_work']
    equal([(s['sText'], s['sWork'], s['sArgument']) for s in texts], 6 * [('a "text", é', '', '')])
    equal([(s['sWork'], s['sArgument']) for s in works],
          [(('samples', 'tokens', 'flows')[i % 3], str(i)) for i in range(6)])
    equal({span['sText'] for span in works}, {''})


def replaced(directory):
    """a program that becomes another one by exec has the spans of both"""
    code, _, err = run(*RECORD, '-o', directory, '--', WORKLOAD, 'exec', 100)
    equal(code, 0, err)
    spans = table(directory, 'spans')
    equal(len(spans), 400)
    equal(len({span['sPid'] for span in spans}), 1)


def cut(directory):
    """a program that cuts its file does not stop the recorder"""
    code, _, err = run(*RECORD, '-o', directory, '--', WORKLOAD, 'cut', 100)
    equal(code, 0, err)
    assert len(table(directory)) >= 2, 'no samples'


def too_many(directory):
    """spans that do not fit are counted as dropped"""
    code, out, err = run('-q', '-f', 'csv', '-t', '10s', '-o', directory, '--', WORKLOAD, 'work', 1,
                         20000)
    equal(code, 0, err)
    metrics = {row['aName']: row for row in table(directory, 'app_metrics')}
    dropped = int(float(metrics['pitot_dropped']['aValue']))
    equal(len(table(directory, 'spans')) + dropped, int(out.split()[0]))
    equal(float(metrics['work']['aValue']), 60000)


def without_library(directory):
    """a program without libpitot has no such files, and the recorder leaves nothing behind"""
    code, out, err = run(*RECORD, '-o', directory, '--', 'sh', '-c', 'echo $PITOT_REGION')
    equal(code, 0, err)
    assert re.match(r'/dev/shm/pitot-[0-9a-f-]{36}$', out.strip()), out
    assert not pathlib.Path(out.strip()).exists()
    assert not list(directory.glob('*.spans.csv'))


def forgotten(directory):
    """what a killed recorder leaves in memory is taken away by the next one"""
    code, out, _ = run(*RECORD, '-o', directory / 'a', '--', 'sh', '-c',
                       'echo $PITOT_REGION; kill -9 $PPID')
    equal(code, -9)
    left = pathlib.Path(out.strip())
    (left / '1-1').touch()
    os.utime(left, (0, 0))
    code, _, err = run(*RECORD, '-o', directory / 'b', '--', 'true')
    equal(code, 0, err)
    assert not left.exists()


def demo(directory):
    """the demo engine's spans and tokens are in the run"""
    code, out, err = run(*RECORD, '-o', directory, '--', PITOT, 'demo', '--seconds', '60',
                         '--requests', '2')
    equal(code, 0, err)
    spans = table(directory, 'spans')
    equal({span['sName'] for span in spans}, {'prefill', 'decode_step', 'sample'})
    check_times(directory, spans)
    metrics = {row['aName']: row for row in table(directory, 'app_metrics')}
    generated = int(re.search(r'generated +(\d+) tokens', out)[1])
    equal(int(float(metrics['generation_tokens']['aValue'])), generated)


main(threads, forked, killed, many_killed, arguments, replaced, cut, too_many, without_library,
     forgotten, demo)
