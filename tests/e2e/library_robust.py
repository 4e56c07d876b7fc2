#!/usr/bin/python3
"""What cannot end a program that uses libpitot: allocations that fail, and another process that
writes into its file."""
import os
import pathlib
import subprocess
import sys
import zipfile

from harness import (ENVIRONMENT, WORKLOAD, Skip, amount, equal, main, summary)

EXAMPLE, ROUNDS, SCRIBBLE, FAIL_MALLOC = map(os.path.abspath, [WORKLOAD, *sys.argv[3:6]])
PYTHON, WHEEL = (*map(os.path.abspath, sys.argv[6:8]), None, None)[:2]
PACKAGE_ROUNDS = pathlib.Path(__file__).with_name('package_rounds.py')
PROGRAM = pathlib.Path(ROUNDS).read_bytes()
IS_SANITIZED = any(name in PROGRAM for name in (b'__asan_init', b'__tsan_init'))
HOWS = ('from', 'once', 'every')
# All in the long form; in the short one those where something new is tried.
NUMBERS = amount(sorted({round(1.3 ** i) for i in range(29)}), range(1, 2001))
PARTS = subprocess.run([SCRIBBLE, '.', 'list', '1'], capture_output=True, text=True,
                       check=True).stdout.split()


def package_environment(directory):
    if not WHEEL:
        raise Skip('no Python package in this build')
    with zipfile.ZipFile(WHEEL) as archive:
        archive.extractall(directory / 'package')
    return ENVIRONMENT | {'PYTHONPATH': str(directory / 'package'), 'PYTHONDONTWRITEBYTECODE': '1'}


def check_shortages(directory, program, arguments, codes):
    if IS_SANITIZED:
        raise Skip('a sanitizer has its own malloc')
    (directory / 'region').mkdir()
    count = 0
    for how in HOWS:
        for number in NUMBERS:
            done = subprocess.run(
                [program, *arguments], cwd=directory, capture_output=True, text=True, timeout=120,
                env=ENVIRONMENT | {'LD_PRELOAD': FAIL_MALLOC, 'FAIL_MALLOC_HOW': how,
                                   'FAIL_MALLOC_IN': os.path.basename(program),
                                   'FAIL_MALLOC_AT': str(number),
                                   'FAIL_MALLOC_UNDER': 'libpitot.so',
                                   'PITOT_REGION': str(directory / 'region')})
            assert done.returncode in codes, f'{how} {number}: {done.returncode}, {done.stderr}'
            count += 1
            for path in (directory / 'region').iterdir():
                path.unlink()
    summary(f'libpitot without memory, {os.path.basename(program)}: {count:,} runs, none ended')


def example_without_memory(directory):
    """C230 C322: no allocation of libpitot that fails ends the example, whichever it is"""
    check_shortages(directory, EXAMPLE, [], (0, 1)) # 1: its own word that it cannot go on


def rounds_without_memory(directory):
    """C230 C322: nor a program that uses all of libpitot, with threads and children"""
    check_shortages(directory, ROUNDS, ['2'], (0,))


def package_without_memory(directory):
    """C230 C322: in Python an allocation that fails is an exception at most"""
    if IS_SANITIZED:
        raise Skip('a sanitizer has its own malloc')
    # CPython's own function does not survive two failures (python/src/_native/context_full.c).
    environment = package_environment(directory) | {'LD_PRELOAD': FAIL_MALLOC,
                                                    'FAIL_MALLOC_NOT_IN': 'PyContextVar_Set',
                                                    'PYTHONMALLOC': 'malloc'}
    numbers = amount(list(NUMBERS)[::2], NUMBERS)
    wanted = ''.join(f'{how} {number}\n' for how in HOWS for number in numbers)
    done = subprocess.run([PYTHON, PACKAGE_ROUNDS, '--shortage'], input=wanted, text=True,
                          capture_output=True, env=environment, cwd=directory,
                          timeout=amount(600, 7200))
    lines = [line.split() for line in done.stdout.splitlines()]
    equal((done.returncode, len(lines)), (0, len(wanted.splitlines())), done.stderr)
    bad = [line for line in lines if line[3] != '0']
    equal(bad, [], done.stderr)
    most = max(int(line[2]) for line in lines)
    assert most > 500, f'only {most} allocations were counted'
    summary(f'libpitot without memory, Python package: {len(lines):,} rounds, none ended')


def check_scribbled(directory, command, environment, seed):
    """Writes into each part of its file while the program runs, and into all at once."""
    for number, part in enumerate([*PARTS, 'all']):
        region = directory / f'region-{part}-{seed}'
        region.mkdir()
        with subprocess.Popen([SCRIBBLE, region, part, str(seed + number)],
                              stdout=subprocess.PIPE, text=True) as scribbler:
            try:
                # for TSan, what a stranger writes makes races of correct code
                done = subprocess.run(command, cwd=directory, capture_output=True, text=True,
                                      env=environment | {'PITOT_REGION': str(region),
                                                         'TSAN_OPTIONS': 'report_bugs=0'},
                                      timeout=600)
                equal(done.returncode, 0, f'{part}, seed {seed}: {done.stderr}')
                equal(scribbler.stdout.readline(), 'found\n')
            finally:
                scribbler.kill()
        for path in region.iterdir():
            path.unlink()


def rounds_scribbled(directory):
    """C230: whatever another process writes into its file, a program goes on"""
    for seed in range(1, amount(2, 31)):
        check_scribbled(directory, [ROUNDS, str(amount(20, 100))], ENVIRONMENT, 100 * seed)
    summary(f'region file scribbled on: {len(PARTS) + 1} parts x {amount(1, 30)} seeds, '
            'C program, none ended')


def package_scribbled(directory):
    """C230: the same for the Python package"""
    if IS_SANITIZED:
        raise Skip('the package is loaded by a program without the sanitizer')
    environment = package_environment(directory)
    for seed in range(1, amount(2, 11)):
        check_scribbled(directory, [PYTHON, PACKAGE_ROUNDS, str(amount(6, 40))], environment,
                        100 * seed)
    summary(f'region file scribbled on: {len(PARTS) + 1} parts x {amount(1, 10)} seeds, '
            'Python package, none ended')


main(example_without_memory, rounds_without_memory, package_without_memory, rounds_scribbled,
     package_scribbled, jobs=2)
