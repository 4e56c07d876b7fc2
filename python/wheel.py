#!/usr/bin/python3
"""Packs a wheel: a zip file with the package, its native part and metadata.

    python/wheel.py WHEEL VERSION NAME NATIVE LIBRARY PYTHON_FILE...

WHEEL is pitot-VERSION-TAGS.whl; NATIVE is called NAME in it. LIBRARY is libpitot.so.X.Y.Z, which
the native part finds next to itself as libpitot.so.X. Uses only the standard library; the same
input gives the same bytes."""
import base64
import hashlib
import pathlib
import sys
import zipfile

LONG_AGO = (1980, 1, 1, 0, 0, 0)
ENTRY_POINTS = '[pytest11]\npitot = pitot.pytest_plugin\n'


def metadata(version):
    return (f'Metadata-Version: 2.1\nName: pitot\nVersion: {version}\n'
            'Summary: Measures a program from inside, for next to nothing\n'
            'License: MIT\nRequires-Python: >=3.9\n')


def wheel_file(tags):
    return f'Wheel-Version: 1.0\nGenerator: pitot\nRoot-Is-Purelib: false\nTag: {tags}\n'


def soname(library):
    """libpitot.so.0 for libpitot.so.0.1.0."""
    stem, _, version = library.name.partition('.so.')
    return f'{stem}.so.{version.split(".")[0]}'


def name_of(path):
    """Name in the wheel: sources are below python/pitot/, built files elsewhere."""
    _, _, inside = path.as_posix().rpartition('/python/pitot/')
    return f'pitot/{inside if inside != path.as_posix() else path.name}'


def contents(version, tags, name, native, library, python_files):
    for path in python_files:
        yield name_of(path), path.read_bytes()
    yield f'pitot/{name}', native.read_bytes()
    yield f'pitot/{soname(library)}', library.read_bytes()
    info = f'pitot-{version}.dist-info'
    yield f'{info}/METADATA', metadata(version).encode()
    yield f'{info}/WHEEL', wheel_file(tags).encode()
    yield f'{info}/entry_points.txt', ENTRY_POINTS.encode()


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()


def add(archive, name, data):
    entry = zipfile.ZipInfo(name, LONG_AGO)
    entry.external_attr = (0o755 if '.so' in name else 0o644) << 16
    archive.writestr(entry, data, zipfile.ZIP_DEFLATED)


def pack(wheel, version, name, native, library, python_files):
    tags = wheel.stem.split('-', 2)[2]
    record = f'pitot-{version}.dist-info/RECORD'
    lines = []
    with zipfile.ZipFile(wheel, 'w') as archive:
        for path, data in contents(version, tags, name, native, library, sorted(python_files)):
            add(archive, path, data)
            lines.append(f'{path},sha256={digest(data)},{len(data)}\n')
        add(archive, record, ''.join([*lines, f'{record},,\n']).encode())


if __name__ == '__main__':
    target, number, filename, *files = sys.argv[1:]
    module, shared, *sources = map(pathlib.Path, files)
    pack(pathlib.Path(target), number, filename, module, shared, sources)
