"""Uses known shares of CPU time, by its own clock: what a profile of it must show."""
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


def main(what):
    if what == 'shares':
        three_quarters()
        one_quarter()
    elif what == 'leaves':
        sum(generator())
        re.sub('a', called_by_c, 'aaa')
        sorted([2, 1], key=lambda value: burn(UNIT_S) and value)
    elif what == 'threads':
        workers = [Worker(), Worker()]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


main(sys.argv[1])
