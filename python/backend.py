"""What pip asks for a wheel (PEP 517): Meson builds it for the Python that asks.

Needed are Meson, Ninja and the libraries of the C part, as `make` installs them."""
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
