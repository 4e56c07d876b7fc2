#!/usr/bin/python3
"""What the basics of libpitot add to a training loop, in instructions: those do not depend on how
busy the machine is. valgrind counts them, of all threads.

    tests/system/basics.py BASICS_STEPS

Prints TAP. Skipped where there is no valgrind."""
import os
import re
import shutil
import subprocess
import sys

PROGRAM = sys.argv[1]
STEPS = 100
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith('PITOT')}


def count(switch):
    """(instructions, what was computed, steps that libpitot has seen)"""
    done = subprocess.run(['valgrind', '--tool=cachegrind', '--cache-sim=no',
                           '--cachegrind-out-file=/dev/null', PROGRAM, str(STEPS), switch],
                          env=ENVIRONMENT, capture_output=True, text=True, check=True)
    instructions = re.search(r'I\s+refs:\s+([\d,]+)', done.stderr)[1].replace(',', '')
    result, seen = done.stdout.split()
    return int(instructions), result, int(seen)


if not shutil.which('valgrind'):
    print('1..0 # SKIP no valgrind')
    sys.exit(77)
print('1..1')
plain, expected, none = count('off')
measured, result, seen = count('on')
assert (result, none, seen) == (expected, 0, STEPS), (result, expected, none, seen)
part = measured / plain - 1
print(f'# {plain / STEPS / 1e6:.2f} million instructions a step, {part * 100:.3f} % more with them')
assert part < 0.01, f'{plain} instructions without, {measured} with the basics'
print('ok 1 - C228: with the basics on a loop takes less than 1 % more instructions')
