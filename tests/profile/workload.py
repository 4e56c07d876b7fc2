"""Uses known shares of CPU time, by its own clock: what a profile of it must show."""
import hashlib
import re
import sys
import threading
import time

UNIT_S = 0.15


def burn(cpu_s):
    end = time.thread_time() + cpu_s
    total = 0
    while time.thread_time() < end:
        for i in range(2000):
            total += i * i
    return total


def three_quarters():
    return burn(3 * UNIT_S)


def one_quarter():
    return burn(UNIT_S)


def generator():
    for _ in range(3):
        yield burn(UNIT_S)


def called_by_c(match):
    burn(UNIT_S)
    return match.group()


class Worker(threading.Thread):
    def run(self):
        burn(UNIT_S * 2)


def digest():
    data = bytes(4 << 20)
    end = time.thread_time() + UNIT_S * 2
    while time.thread_time() < end:
        hashlib.sha256(data).digest()


class Digester(threading.Thread):
    def run(self):
        digest()


def run_threads(threads):
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main(what):
    if what == 'shares':
        three_quarters()
        one_quarter()
    elif what == 'leaves':
        sum(generator())
        re.sub('a', called_by_c, 'aaa')
        sorted([2, 1], key=lambda value: burn(UNIT_S) and value)
    elif what == 'threads':
        run_threads([Worker(), Worker()])
    elif what == 'contended':
        run_threads([Worker() for _ in range(4)])
    elif what == 'released':
        run_threads([Digester(), Digester()])


main(sys.argv[1])
