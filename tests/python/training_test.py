"""Figures of training, from spans of a loop."""
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

from support import PITOT, TestCase

PROGRAM = '''
import time, pitot
for i in range(5):
    with pitot.span("data_wait"): time.sleep(0.01)
    with pitot.span("train_step", arg=i):
        with pitot.span("total_step"):
            with pitot.span("all_reduce"): time.sleep(0.005)
'''


class TrainingTest(TestCase):
    def test_summary(self):
        """the summary has step time, data wait and collectives per step, as the spans say"""
        with tempfile.TemporaryDirectory(prefix='pitot-test-') as directory:
            found = subprocess.run([PITOT, '-f', 'csv', '-t', '50', '-o', directory, '--',
                                    sys.executable, '-c', PROGRAM], check=True, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
            path = next(pathlib.Path(directory).glob('*.spans.csv'))
            with path.open() as file:
                spans = list(csv.DictReader(file))
        for title, name in (('Step time', 'train_step'), ('Data wait per step', 'data_wait'),
                            ('Collectives per step', 'all_reduce')):
            with self.subTest(title):
                times = [int(row['sDuration']) for row in spans if row['sName'] == name]
                self.assertEqual(len(times), 5)
                printed = re.search(rf'^{title} +([\d.]+) (m?s)', found, re.MULTILINE)
                scale, delta = (5e6, 0.051) if printed[2] == 'ms' else (5e9, 0.0051)
                self.assertAlmostEqual(float(printed[1]), sum(times) / scale, delta=delta)
