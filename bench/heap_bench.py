#!/usr/bin/python3
"""What a heap profile costs a loop of malloc and free, eight calls deep: nothing, a library that
only hands on, Pitot by samples and by every allocation, heaptrack.

    bench/heap_bench.py BUILD_DIRECTORY

Rounds take turns, the minimum of the loop's own CPU time counts; for heaptrack and Pitot with every
allocation that of all their processes too."""
import os
import shutil
import tempfile

import bench

ROUNDS, PAIRS = 15, 10_000_000
BUILD = bench.build_directory()
LOOP, FORWARD = BUILD / 'bench/heap_loop', BUILD / 'bench/libheap-forward.so'


def run(words, environment, pairs):
    """Nanoseconds of a pair by the program's own account, and by that of all processes."""
    seconds, out, _ = bench.run([*words, pairs], os.environ | environment)
    own = [float(line) for line in out.splitlines() if line.replace('.', '').isdigit()]
    return own[0], seconds / pairs * 1e9


def measure(directory):
    pitot = [BUILD / 'pitot', 'heap', '-q', '-o', f'{directory}/x.folded']
    ways = {
        'bare': ([LOOP], {}),
        'forward': ([LOOP], {'LD_PRELOAD': str(FORWARD)}),
        'sampled': ([*pitot, '--', LOOP], {}),
        'every': ([*pitot, '--heap', 'all', '--', LOOP], {}),
    }
    if shutil.which('heaptrack'):
        ways['heaptrack'] = (['heaptrack', '-o', f'{directory}/heaptrack', LOOP], {})
    best = {}
    for number in range(ROUNDS):
        for name, (words, environment) in ways.items():
            if name == 'heaptrack' and number > 1:
                continue # it takes long
            pairs = PAIRS // 5 if name == 'heaptrack' else PAIRS
            found = run(words, environment, pairs)
            kept = best.get(name, found)
            best[name] = (min(kept[0], found[0]), min(kept[1], found[1]))
    return best


def row(what, pitot, reference, goal=''):
    bench.row(what, f'{pitot:.1f} ns', f'{reference:.1f} ns', pitot / reference, goal)


def main():
    with tempfile.TemporaryDirectory() as directory:
        best = measure(directory)
    bare = best['bare'][0]
    row('malloc and free, a library that hands on / bare', best['forward'][0], bare)
    row('malloc and free, sampled each 512 KiB / bare', best['sampled'][0], bare, '<= 1.15')
    row('malloc and free, every one counted, 8 deep / bare', best['every'][0], bare, '<= 3')
    if 'heaptrack' in best:
        row('every one counted, all processes / heaptrack', best['every'][1],
            best['heaptrack'][1], '<= 0.33')
        row('heaptrack / bare', best['heaptrack'][0], bare)
    else:
        bench.not_measured('heaptrack', 'not installed')


main()
