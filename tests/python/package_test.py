"""The package itself: what an import does, what stubs say, how a wheel is installed."""
import ast
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pitot
from support import TestCase, python

HERE = pathlib.Path(pitot.__file__).parent


class PackageTest(TestCase):
    def test_import(self):
        """an import starts no thread, opens no file and loads nothing heavy"""
        out = python('''
            import os, sys
            before = sorted(os.listdir("/proc/self/fd"))
            modules = set(sys.modules)
            import pitot
            with pitot.span("off"): pitot.counter("n").inc()
            print(len(os.listdir("/proc/self/task")), before == sorted(os.listdir("/proc/self/fd")))
            print([name for name in ("asyncio", "inspect", "functools", "json", "pandas", "torch")
                   if name in set(sys.modules) - modules], pitot.is_on())
        ''')
        self.assertEqual(out, '1 True\n[] False\n')

    def test_missing_native_part(self):
        """without the native part the import fails and says what helps"""
        with tempfile.TemporaryDirectory() as directory:
            package = pathlib.Path(directory, 'pitot')
            shutil.copytree(HERE, package, ignore=shutil.ignore_patterns('*.so*', '__pycache__'))
            failed = subprocess.run([sys.executable, '-c', 'import pitot'], capture_output=True,
                                    text=True, env={**os.environ, 'PYTHONPATH': directory})
        self.assertEqual(failed.returncode, 1)
        last = failed.stderr.splitlines()[-1]
        self.assertRegex(last, r'^ImportError: the native part of pitot cannot be loaded .*'
                               r'install the wheel .*make python')

    def test_stubs(self):
        """the stubs name all that is public, and nothing else"""
        tree = ast.parse((HERE / '__init__.pyi').read_text())
        stubs = {node.name for node in tree.body
                 if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        stubs |= {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom)
                  for alias in node.names if alias.asname}
        self.assertEqual(stubs, set(pitot.__all__))
        self.assertTrue((HERE / 'py.typed').exists())
        for name in pitot.__all__:
            self.assertTrue(hasattr(pitot, name), name)
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                members = {getattr(m, 'name', None) or getattr(m.target, 'id', None)
                           for m in node.body if not isinstance(m, ast.Expr)}
                public = {m for m in dir(getattr(pitot, node.name)) if not m.startswith('_')}
                self.assertEqual({m for m in members if not m.startswith('_')}, public, node.name)

    def test_second_import(self):
        """a module that is imported again has the same types"""
        out = python('''
            import sys, pitot
            span = pitot.Span
            for name in [n for n in sys.modules if n.startswith("pitot")]: del sys.modules[name]
            import pitot
            with pitot.span("x"): pass
            print(pitot.Span is span, pitot.__version__)
        ''')
        self.assertEqual(out, f'True {pitot.__version__}\n')

    def test_one_library(self):
        """a process has one libpitot, though another program of C brings its own by soname"""
        out = python(f'''
            import ctypes, shutil, tempfile, os
            with tempfile.TemporaryDirectory() as other:
                path = shutil.copy({str(HERE / "libpitot.so.0")!r}, other)
                first = ctypes.CDLL(path)
                import pitot
                pitot.start()
                print(ctypes.c_int.in_dll(first, "pt_is_on_").value != 0)
        ''')
        self.assertEqual(out, 'True\n')

    def test_installation(self):
        """pip installs the wheel into a new environment, without a network"""
        environment = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
        with tempfile.TemporaryDirectory() as directory:
            # the pip of this interpreter installs: a pip for each environment would take seconds
            subprocess.run([sys.executable, '-m', 'venv', '--without-pip', directory], check=True)
            interpreter = f'{directory}/bin/python'
            pip = [sys.executable, '-m', 'pip', '--python', interpreter, '-q',
                   '--disable-pip-version-check']
            subprocess.run([*pip, 'install', '--no-index', os.environ['PITOT_WHEEL']], check=True,
                           env=environment)
            out = subprocess.run(
                [interpreter, '-I', '-c', 'import pitot; pitot.start(); print(pitot.__file__)'],
                check=True, capture_output=True, text=True, env=environment).stdout
            self.assertTrue(out.startswith(directory), out)
            subprocess.run([*pip, 'check'], check=True, capture_output=True, env=environment)
