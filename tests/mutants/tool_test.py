#!/usr/bin/python3
"""tools/mutants on a small project of which every mutant is known (tests/mutants/project)."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOL = HERE.parents[1] / 'tools/mutants/run'

SURVIVORS = {
    'limits.c: return value [->-]{+>=+} max ? max : value;',
    'limits.c: return value [---]{+++} 1;',
    'limits.c: return value - [-1-]{+0+};',
    'names.c: X("disk", [-60-]{+45+})',
    'names.c: { "memory", [-90-]{+68+} },',
    'names.c: { NULL, [-5-]{+4+} },',
}
EQUIVALENT = """\
limits.c, clamp: return value [->-]{+>=+} max ? max : value;
    both are the same number then
"""
STALE = """\
limits.c, clamp: return value [->-]{+!=+} max ? max : value;
    a line that is no longer there
"""


class Project:
    """A copy of the small project, under git as the tool expects it."""

    def __init__(self, directory):
        self.root = pathlib.Path(directory, 'project')
        shutil.copytree(HERE / 'project', self.root)
        self.git('init', '-q')
        self.git('add', '.')
        self.git('-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '-q', '-m', 'first')

    def git(self, *arguments):
        subprocess.run(['git', *arguments], cwd=self.root, check=True)

    def put(self, path, text):
        (self.root / path).parent.mkdir(exist_ok=True)
        (self.root / path).write_text(text)

    def mutants(self, *arguments):
        """Exit code, survivors as FILE: CHANGE, and all output."""
        command = [TOOL, '--root', self.root, '--stages', 'unit', *arguments, '--setup']
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        survivors = set()
        for line in done.stdout.splitlines():
            number, _, rest = line.strip().partition('  src/')
            if number.isdigit():
                place, _, change = rest.partition(': ')
                survivors.add(f'{place.partition(":")[0]}: {change}')
        return done.returncode, survivors, done.stdout


def numbers_are_known(project):
    code, survivors, out = project.mutants('--min', '75')
    assert survivors == SURVIVORS, survivors
    assert 'mutants: 24 made, 18 killed (75.0 %), 0 equivalent, 6 survived\n' in out, out
    assert code == 0, code
    assert out.count('not reached by any test') == 2, out


def too_few_killed_is_an_error(project):
    code, _, out = project.mutants('--min', '75.1')
    assert code == 1, out


def an_equivalent_one_does_not_count(project):
    project.put('tests/mutants/equivalent', EQUIVALENT)
    code, survivors, out = project.mutants('--min', '78')
    assert len(survivors) == 5, survivors
    assert 'mutants: 24 made, 18 killed (78.3 %), 1 equivalent, 5 survived\n' in out, out
    assert code == 0, code


def a_stale_entry_is_an_error(project):
    project.put('tests/mutants/equivalent', STALE)
    code, _, out = project.mutants()
    assert code == 1 and 'no such mutant any more' in out, out
    project.put('tests/mutants/equivalent', '')


def a_better_test_kills_more(project):
    """Only that test is run again."""
    path = project.root / 'tests/limits_test.c'
    path.write_text(path.read_text().replace('is_above("memory", 200) == 1',
                                             'is_above("memory", 91) == 0'))
    _, survivors, out = project.mutants()
    assert survivors == SURVIVORS - {'names.c: { "memory", [-90-]{+68+} },'}, out


def the_seed_chooses(project):
    def chosen(*arguments):
        return project.mutants('--list', '--count', '5', *arguments)[2]
    assert chosen('--seed', 'a') == chosen('--seed', 'a')
    assert chosen('--seed', 'a') != chosen('--seed', 'b')


def folders_and_changed_lines_choose(project):
    _, _, out = project.mutants('--list', '--in', 'names.c')
    assert 'names.c' in out and 'limits.c' not in out, out
    path = project.root / 'src/limits.c'
    path.write_text(path.read_text().replace('#define MARGIN 2', '#define MARGIN 3'))
    _, _, out = project.mutants('--list', '--since', 'HEAD')
    assert '\n1 places' in out and '#define MARGIN [-3-]' in out, out


TESTS = (numbers_are_known, too_few_killed_is_an_error, an_equivalent_one_does_not_count,
         a_stale_entry_is_an_error, a_better_test_kills_more, the_seed_chooses,
         folders_and_changed_lines_choose)


def main():
    print(f'1..{len(TESTS)}')
    failed = False
    with tempfile.TemporaryDirectory(prefix='pitot-mutants-') as directory:
        project = Project(directory)
        for number, test in enumerate(TESTS, 1):
            problem = ''
            try:
                test(project)
            except AssertionError as error:
                problem, failed = str(error), True
            title = f'{number} - C319: tools/mutants: {test.__name__.replace("_", " ")}'
            print(f'not ok {title}' if problem else f'ok {title}', flush=True)
            for line in problem.splitlines():
                print(f'#   {line}', flush=True)
    return 1 if failed else 0


sys.exit(main())
