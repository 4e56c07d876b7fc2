"""The plugin of pytest: limits that hold and limits that do not."""
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap

from support import TestCase, needs


class PluginTest(TestCase):
    def pytest(self, code, *options):
        with tempfile.TemporaryDirectory() as directory:
            pathlib.Path(directory, 'test_it.py').write_text(textwrap.dedent(code))
            done = subprocess.run(
                [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--strict-markers',
                 *options, directory], capture_output=True, text=True, cwd=directory,
                env={**os.environ, 'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1',
                     'PYTEST_ADDOPTS': '-p pitot.pytest_plugin'})
        return done.returncode, done.stdout + done.stderr

    @needs('pytest')
    def test_limits(self):
        """a test that takes more than its mark allows fails and says how much"""
        code, out = self.pytest('''
            import pytest
            kept = []

            @pytest.mark.pitot(max_seconds=3600, max_ram_mb=100000, max_growth_mb=1000)
            def test_fine(): pass

            @pytest.mark.pitot(max_growth_mb=10)
            def test_grows(): kept.append(bytearray(64 << 20))

            @pytest.mark.pitot(max_ram_mb=1)
            def test_large(): pass

            @pytest.mark.pitot(max_seconds=0)
            def test_slow(): pass

            @pytest.mark.pitot(max_seconds=0)
            def test_wrong(): assert "own failure" == "is shown"
        ''', '--pitot')
        self.assertEqual(code, 1, out)
        self.assertIn('4 failed, 1 passed', out)
        self.assertRegex(out, r'test_grows grew by 6\d\.\d MB, max_growth_mb is 10\n')
        self.assertRegex(out, r'test_large had up to \d+\.\d MB, max_ram_mb is 1\n')
        self.assertRegex(out, r'test_slow took 0\.\d{3} s, max_seconds is 0\n')
        self.assertIn("assert 'own failure' == 'is shown'", out)
        self.assertRegex(out, r'test_it\.py::test_fine: Peak RAM: \d+\.\d MB, Wall Time: 0\.\ds\n')

    @needs('pytest')
    def test_wrong_limit(self):
        """a limit that does not exist is reported"""
        code, out = self.pytest('''
            import pytest
            @pytest.mark.pitot(max_minutes=1)
            def test_it(): pass
        ''')
        self.assertNotEqual(code, 0)
        self.assertIn('takes max_seconds, max_ram_mb, max_growth_mb by name, not max_minutes', out)

    def test_entry_point(self):
        """the wheel tells pytest of the plugin"""
        import zipfile
        with zipfile.ZipFile(os.environ['PITOT_WHEEL']) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith('entry_points.txt'))
            self.assertEqual(wheel.read(name).decode(), '[pytest11]\npitot = pitot.pytest_plugin\n')
