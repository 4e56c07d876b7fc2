"""The build backend for pip (PEP 517): Meson builds the wheel for the calling Python.

Needs Meson, Ninja and the libraries of the C part, as installed by `make`."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory(prefix='pitot-build-') as build:
        subprocess.run(['meson', 'setup', build, str(SOURCE), '-Dtests=disabled',
                        '-Dpython=enabled', f'-Dpython_interpreters={sys.executable}'], check=True)
        subprocess.run(['ninja', '-C', build, 'wheels'], check=True)
        wheels = pathlib.Path(build, 'python').glob('*.whl')
        own = next(path for path in wheels if '-abi3-' not in path.name)
        shutil.copy(own, wheel_directory)
        return own.name


def get_requires_for_build_wheel(config_settings=None):
    return []
