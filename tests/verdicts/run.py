#!/usr/bin/python3
"""Records workloads whose bottleneck is known, and compares what `pitot explain` says.

    tests/verdicts/run.py PITOT [CASE ...]

Prints one line per case and a confusion matrix. A case is a function with a label: verdicts that
are right. Cases marked as held out were never used to choose thresholds and are counted apart. A
machine that is busy with other work disturbs: then `cpu-steal` is right as well, and the case is
counted as disturbed. The exit code is 1 if fewer than 90 % are right or a confident verdict is
wrong. Needs root for cgroups, stress-ng and fio; a case that cannot be made is left out.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import cases # pylint: disable=unused-import # each adds itself
from workload import CASES, DISTURBED, PITOT, Skip


def busy_ticks():
    with open('/proc/stat', encoding='ascii') as file:
        numbers = [int(n) for n in file.readline().split()[1:9]]
    return sum(numbers) - numbers[3] - numbers[4], sum(numbers)


def judge(labels, function):
    """(what was said, how disturbed, confidence, all ids)"""
    with tempfile.TemporaryDirectory(prefix='pitot-verdict-', dir='/var/tmp') as name:
        directory = pathlib.Path(name)
        busy, total = busy_ticks()
        own = os.times()
        function(directory)
        after = os.times()
        used = after.children_user + after.children_system - own.children_user - own.children_system
        busy, total = busy_ticks()[0] - busy, busy_ticks()[1] - total
        others = max(0, busy / 100 - used) / (total / 100)
        text = subprocess.run([PITOT, 'explain', '--json', str(directory / 'run')], check=True,
                              capture_output=True, text=True).stdout
        found = json.loads(text)
        if os.environ.get('VERDICTS_VERBOSE'):
            print(json.dumps(found['verdicts'], indent=1))
    ids = [v['id'] for v in found['verdicts']]
    said = ids[0] if found['status'] == 'bound' else found['status']
    confidence = found['verdicts'][0]['confidence'] if found['verdicts'] else 0
    return said, others, confidence, ids


def main():
    chosen = set(sys.argv[2:])
    matrix, right, wrong = collections.Counter(), collections.Counter(), []
    counted = collections.Counter()
    for name, labels, held_out, function in CASES:
        if chosen and name not in chosen:
            continue
        try:
            said, others, confidence, ids = judge(labels, function)
        except Skip as reason:
            print(f'{name:28} left out: {reason}')
            continue
        is_disturbed = others > DISTURBED and 'cpu-steal' not in labels
        accepted = labels | ({'cpu-steal'} if is_disturbed else set())
        group = 'disturbed' if is_disturbed else 'held out' if held_out else 'known'
        counted[group] += 1
        right[group] += said in accepted
        matrix[sorted(labels)[0], said] += 1
        if said not in accepted and said not in ('inconclusive', 'nothing'):
            wrong.append(name)
        print(f'{name:28} {"right" if said in accepted else "WRONG":6} {said} {confidence:.2f} '
              f'of {ids}, expected {"/".join(sorted(labels))}, others {others:.0%}', flush=True)
    print_matrix(matrix)
    total, all_right = sum(counted.values()), sum(right.values())
    for group, count in counted.items():
        print(f'{group}: {right[group]} of {count} right')
    print(f'all: {all_right} of {total} right; confident and wrong: {", ".join(wrong) or "none"}')
    sys.exit(1 if wrong or all_right < 0.9 * total else 0)


def print_matrix(matrix):
    print('\nexpected                 said')
    for (label, said), count in sorted(matrix.items()):
        print(f'{label:24} {said:24} {count}')
    print()


main()
