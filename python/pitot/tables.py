"""The tables of a recorded run, from the files next to its journal.

    run = pitot.read("profiler-output")
    run["spans"]["sDuration"]       a column: a list, or a pandas Series where pandas is
    run.units["spans"]["sDuration"] "ns"

JSON lines are read if they are there; else the program `pitot` makes them from the journal, in a
temporary directory; otherwise CSV is read. The program is PITOT_BINARY, or `pitot` on PATH."""
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

MAIN = 'main'
_UUID = r'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'


class Run(dict):
    """Tables by name; "main" is the main file. `units` has the units of the columns."""

    def __init__(self, uuid, tables, units):
        super().__init__(tables)
        self.uuid, self.units = uuid, units


def read(run, pandas=None):
    """The tables of `run`: a directory (its newest run), or one of the files of a run.

    pandas: True makes frames, with the units in frame.attrs["units"]; False makes dicts of lists;
    None makes frames where pandas can be imported. FileNotFoundError: there is no such run."""
    directory, uuid = _find(pathlib.Path(run))
    columns = _columns(directory, uuid)
    units = _units(columns)
    make = _frame_maker(pandas)
    tables = {name: make(table, units[name]) for name, table in columns.items()}
    return Run(uuid, tables, units)


def _find(path):
    """Directory and uuid of the run."""
    if path.is_dir():
        runs = [file for file in path.iterdir() if re.fullmatch(rf'{_UUID}(\..+)?', file.name)]
        if runs:
            newest = max(runs, key=lambda file: file.stat().st_mtime)
            return path, re.match(_UUID, newest.name)[0]
    found = re.match(_UUID, path.name)
    if found and path.exists():
        return path.parent, found[0]
    raise FileNotFoundError(f'no run at {path} (give a directory with *.pitot files)')


def _columns(directory, uuid):
    found = _read_all(directory, uuid, 'jsonl', _read_jsonl)
    if not found:
        found = _export(directory / f'{uuid}.pitot', uuid)
    if not found:
        found = _read_all(directory, uuid, 'csv', _read_csv)
    if not found:
        raise FileNotFoundError(
            f'run {uuid} has no .jsonl or .csv files, and there is no program `pitot` to make them '
            f'(run `pitot export -f jsonl {directory}`, or set PITOT_BINARY)')
    return found


def _read_all(directory, uuid, extension, read_file):
    tables = {}
    for path in sorted(directory.glob(f'{uuid}*.{extension}')):
        name = path.name[len(uuid):-len(extension) - 1].lstrip('.')
        tables[name or MAIN] = read_file(path)
    return tables


def _read_jsonl(path):
    columns = {}
    with open(path, encoding='utf-8') as lines:
        for count, line in enumerate(lines):
            for name, value in json.loads(line).items():
                columns.setdefault(name, [None] * count).append(value)
    return columns


def _read_csv(path):
    with open(path, encoding='utf-8', newline='') as lines:
        rows = csv.reader(lines)
        names = next(rows, [])
        cells = list(zip(*rows)) or [()] * len(names)
    return {name: _typed(column) for name, column in zip(names, cells)}


def _typed(cells):
    """All integers, or all numbers, or texts; an empty field is None."""
    for kind in (int, float):
        try:
            return [kind(cell) if cell else None for cell in cells]
        except ValueError:
            continue
    return [_text(cell) or None for cell in cells]


def _text(cell):
    """Undoes what keeps spreadsheets and terminals from obeying a text: docs/COMPATIBILITY.md."""
    if not cell.startswith("'"):
        return cell
    return re.sub(r'\\(\\|x([0-9a-f]{2}))', lambda m: chr(int(m[2], 16)) if m[2] else m[1],
                  cell[1:])


def _program():
    return os.environ.get('PITOT_BINARY') or shutil.which('pitot')


def _export(journal, uuid):
    program = _program()
    if not program or not journal.exists():
        return None
    with tempfile.TemporaryDirectory(prefix='pitot-') as directory:
        done = subprocess.run([program, 'export', '-q', '-f', 'jsonl', '-o', directory, journal],
                              capture_output=True, text=True, errors='replace')
        if done.returncode:
            raise OSError(f'pitot export {journal}: {done.stderr.strip()}')
        return _read_all(pathlib.Path(directory), uuid, 'jsonl', _read_jsonl)


def _schema():
    """Units of the columns of each file, in the program that was built with this package."""
    with open(pathlib.Path(__file__).with_name('schema.json'), encoding='utf-8') as file:
        tables = json.load(file)['tables']
    units = {}
    for table in tables:
        known = units.setdefault(table['file'], {})
        known.update((column['name'], column['unit']) for column in table['columns'])
    return units


def _units(tables):
    schema = _schema()
    return {name: {column: _unit(column, schema.get(name, {})) for column in table}
            for name, table in tables.items()}


def _unit(column, known):
    if column in known:
        return known[column]
    if column == 'monotonic_ns':
        return 'ns'
    return 'ms' if column == 'timestamp' or column[:-1] in known else ''


def _frame_maker(wanted):
    if wanted is False:
        return lambda columns, units: columns
    try:
        from pandas import DataFrame
    except ImportError:
        if wanted:
            raise
        return lambda columns, units: columns

    def make(columns, units):
        frame = DataFrame(columns)
        frame.attrs['units'] = units
        return frame
    return make
