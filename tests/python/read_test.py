"""pitot.read(): the tables of a recorded run."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pitot
from support import PITOT, TestCase, needs

PROGRAM = '''
import pitot
with pitot.span("decode", tokens=7): pass
with pitot.span("12"): pass
pitot.counter("tokens").inc(7)
'''


class ReadTest(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix='pitot-test-')
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        for name in ('jsonl', 'csv', 'parquet'):
            subprocess.run([PITOT, '-q', '-f', name, '-t', '50', '-o', f'{cls.directory}/{name}',
                            '--', sys.executable, '-c', PROGRAM], check=True)

    def check(self, run):
        self.assertIn('vCpuTime', run['main'])
        self.assertEqual(list(run['spans']['sName']), ['decode', '12'])
        self.assertEqual(list(run['spans']['sArgument'])[0], 7)
        self.assertEqual(run.units['spans']['sDuration'], 'ns')
        self.assertEqual(run.units['main']['vMemoryTotal'], 'bytes')
        self.assertEqual(run.units['main']['timestamp'], 'ms')
        self.assertEqual(list(run['app_metrics']['aName']), ['tokens'])

    def test_files(self):
        """JSON lines and CSV are read as they are; the journal by way of `pitot export`"""
        for name in ('jsonl', 'csv', 'parquet'):
            with self.subTest(name):
                directory = pathlib.Path(self.directory, name)
                run = pitot.read(directory, pandas=False)
                self.check(run)
                self.check(pitot.read(next(directory.glob('*.pitot')), pandas=False))
                self.assertIsNone(run['spans']['sArgument'][1])
                left = {path.suffix for path in directory.iterdir()}
                self.assertEqual(left, {f'.{name}', '.pitot', '.json'})

    def test_without_program(self):
        """without the program CSV is read, and without that the message says what to do"""
        import os
        saved = {name: os.environ.pop(name) for name in ('PITOT_BINARY', 'PATH')}
        try:
            self.check(pitot.read(f'{self.directory}/csv', pandas=False))
            with self.assertRaisesRegex(FileNotFoundError, 'pitot export -f jsonl'):
                pitot.read(f'{self.directory}/parquet')
            with self.assertRaisesRegex(FileNotFoundError, 'no run at'):
                pitot.read('/nonexistent')
        finally:
            os.environ.update(saved)

    @needs('pandas')
    def test_frames(self):
        """with pandas tables are frames that know their units"""
        import pandas
        run = pitot.read(f'{self.directory}/jsonl')
        self.assertIsInstance(run['spans'], pandas.DataFrame)
        self.assertEqual(run['spans'].attrs['units']['sDuration'], 'ns')
        self.check(run)
