"""tests/mutants/equivalent: mutants that no test can notice, and why.

    cpu.c, read_row: if (count [->-]{+>=+} 0)
        a row of no columns is empty either way

The first line of an entry is the name of the file, the function, and the line with the change as
tools/mutants prints it; the indented lines below are the reason.
"""


def parse(text):
    """key -> reason, of the text of the file."""
    found, key = {}, None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith('#'):
            continue
        if line[0].isspace():
            if key is None:
                raise SystemExit(f'mutants: equivalent, line {number}: a reason without a mutant')
            found[key] = (found[key] + ' ' + line.strip()).strip()
            continue
        place, separator, diff = line.partition(': ')
        file, comma, function = place.partition(', ')
        if not separator or not comma:
            raise SystemExit(f'mutants: equivalent, line {number}: FILE, FUNCTION: CHANGE expected')
        key = f'{file}|{function}|{diff.strip()}'
        found[key] = ''
    without = [key for key, reason in found.items() if not reason]
    if without:
        raise SystemExit(f'mutants: equivalent: no reason for {without[0]}')
    return found


def load(path, files, is_strict):
    """The entries. One that fits no mutant that can be made is reported, or an error."""
    if not path.exists():
        return {}
    entries = parse(path.read_text())
    possible = {m.name for file in files for m in file.mutants}
    stale = [key for key in entries if key not in possible]
    if stale:
        message = '\n    '.join(['mutants: tests/mutants/equivalent: no such mutant any more:',
                                *stale])
        if is_strict:
            raise SystemExit(message)
        print(message)
    return entries
