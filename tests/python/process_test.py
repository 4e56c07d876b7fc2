"""Processes: fork, and workers of every kind."""
import pathlib
import tempfile
import textwrap

from support import TestCase, names, python, record

WORKERS = '''
    import multiprocessing, os, sys, pitot
    blocks = pitot.counter("blocks")
    def work(n):
        with pitot.span("work", arg=n): blocks.inc()
        return os.getpid()
    if __name__ == "__main__":
        with pitot.span("parent"): blocks.inc()
        context = multiprocessing.get_context(sys.argv[1])
        with context.Pool(2) as pool:
            pool.map(work, range(20), chunksize=1)
            pool.close()
            pool.join()
'''


class ProcessTest(TestCase):
    def test_fork(self):
        """a forked child has spans of its own, those of its parent are not there twice"""
        seen = record('''
            import os, pitot
            count = pitot.counter("count")
            with pitot.span("open"):
                with pitot.span("before"): count.inc(10)
                child = os.fork()
                if child == 0:
                    with pitot.span("child"): count.inc(5)
                    os._exit(count.value != 5)
                assert os.waitpid(child, 0)[1] == 0
            assert count.value == 10
        ''')
        self.assertEqual(sorted(names(seen)), ['before', 'child', 'open'])
        self.assertEqual(len({span.pid for span in seen.spans}), 2)

    def test_workers(self):
        """workers of multiprocessing record, however they were started"""
        for method in ('fork', 'spawn', 'forkserver'):
            with self.subTest(method), tempfile.TemporaryDirectory() as directory:
                script = pathlib.Path(directory, 'workers.py')
                script.write_text(textwrap.dedent(WORKERS))
                seen = record(f'''
                    import subprocess, sys
                    subprocess.run([sys.executable, {str(script)!r}, {method!r}], check=True)
                ''')
                work = [span for span in seen.spans if span.name == 'work']
                self.assertEqual(sorted(span.argument for span in work), [*range(20)])
                parents = [span for span in seen.spans if span.name == 'parent']
                self.assertEqual(len(parents), 1)
                self.assertNotIn(parents[0].pid, {span.pid for span in work})

    def test_fork_from_thread(self):
        """a fork while other threads record neither hangs nor breaks the child"""
        python('''
            import os, threading, warnings, pitot
            warnings.simplefilter("ignore", DeprecationWarning)
            pitot.start()
            done = threading.Event()
            def work():
                while not done.is_set():
                    with pitot.span("work"): pitot.counter("n").inc()
            threads = [threading.Thread(target=work) for _ in range(3)]
            for t in threads: t.start()
            for _ in range(20):
                child = os.fork()
                if child == 0:
                    with pitot.span("child", arg="text"): pitot.counter("n").inc()
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            done.set()
            for t in threads: t.join()
        ''')

    def test_other_threads_go_on(self):
        """the lock of the interpreter is free while a trace waits for its reader"""
        python('''
            import json, os, tempfile, threading, pitot
            pitot.start()
            with pitot.span("seen"): pass
            with tempfile.TemporaryDirectory() as directory:
                path = directory + "/fifo"
                os.mkfifo(path)
                def read():
                    with open(path) as file: events.extend(json.load(file)["traceEvents"])
                events = []
                reader = threading.Thread(target=read)
                reader.start()
                pitot.trace(path)
                reader.join()
            assert "seen" in [event["name"] for event in events]
        ''')

    def test_end(self):
        """a program may end while its threads and last words record"""
        # Before 3.11, CPython frees the interpreter while daemon threads still wait for its lock.
        for _ in range(3):
            python('''
                import atexit, sys, threading, pitot
                pitot.start()
                seconds = pitot.histogram("seconds")
                def work():
                    while True:
                        with pitot.span("work", request=3, arg="text"), seconds.time():
                            pitot.counter("n", k=1).inc()
                for _ in range(3 if sys.version_info >= (3, 11) else 0):
                    threading.Thread(target=work, daemon=True).start()
                class Last:
                    span = pitot.span("last")
                    def __del__(self):
                        with self.span: pitot.metrics_text()
                cycle = [Last()]
                cycle.append(cycle)
                atexit.register(lambda: pitot.span("exit").__enter__())
            ''')
