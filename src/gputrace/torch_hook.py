"""Profiles a program with torch's own profiler, without changes to the program.

`pitot gpu --tool torch` puts the directory of this file first in PYTHONPATH. Python imports it as
sitecustomize when it starts; it does nothing until the program imports torch, and writes the trace
when the program ends, to $PITOT_TORCH_TRACE-<pid>.json."""
import atexit
import importlib.util
import os
import sys
import time


def other_sitecustomize():
    """Imports the sitecustomize that this file hides, if there is one."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
    sys.modules.pop('sitecustomize', None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError:
        pass


def complain(what, error):
    print(f'pitot: torch\'s profiler {what}: {error}', file=sys.stderr)


def mark_clock(torch):
    """Aligns the clock of the trace with ours; the last mark counts, the first is slow."""
    for _ in range(3):
        name = f'pitot.clock {time.monotonic_ns()} {os.getpid()}'
        with torch.profiler.record_function(name):
            pass


def start():
    import torch
    owner = os.getpid()
    profiler = torch.profiler.profile()
    profiler.start()
    mark_clock(torch)

    def stop():
        if os.getpid() != owner:
            return
        path = f'{os.environ["PITOT_TORCH_TRACE"]}-{owner}.json'
        try:
            profiler.stop()
            profiler.export_chrome_trace(path + '.new')
            os.rename(path + '.new', path)
        except Exception as error:
            complain('could not write its trace', error)
    atexit.register(stop)


class Finder:
    """Waits for the import of torch."""

    def find_spec(self, name, path=None, target=None):
        if name != 'torch':
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec('torch')
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_start(module):
            execute(module)
            try:
                start()
            except Exception as error:
                complain('could not start', error)
        spec.loader.exec_module = execute_and_start
        return spec


other_sitecustomize()
if 'PITOT_TORCH_TRACE' in os.environ:
    sys.meta_path.insert(0, Finder())
