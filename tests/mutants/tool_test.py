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
    'limits.c: return value [---]{+++} 1;',
    'limits.c: return value - [-1-]{+0+};',
    'names.c: X("disk", [-60-]{+45+})',
    'names.c: { "memory", [-90-]{+68+} },',
    'names.c: { NULL, [-5-]{+4+} },',
}
EQUIVALENT = """\
names.c, limits: { NULL, [-5-]{+4+} },
    the last row is not a limit
"""
STALE = """\
limits.c, clamp: return value [->-]{+!=+} max ? max : value;
    a line that is no longer there
"""

# Equal elements, equal operands, descriptor 0, how much more than another an element is, and a
# result that nobody uses.
WITHOUT_EFFECT = """\
#include "limits.h"

#include <fcntl.h>
#include <unistd.h>

int by_number(const void *a, const void *b);
int by_number(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return x > y ? 1 : x < y ? -1 : 0;
}

int clamp(int value, int max) {
    int from = open("/dev/null", O_RDONLY);
    if (from < 0)
        return 7;
    (void)!lseek(from, 0, SEEK_SET);
    if (value < 3)
        value = 3;
    return value > max ? max : value;
}
"""
NOT_MADE = {
    'return x [->-]{+>=+} y ? 1 : x < y ? -1 : 0;',
    'return x > y ? [-1-]{+2+} : x < y ? -1 : 0;',
    'return x > y ? 1 : x [-<-]{+<=+} y ? -1 : 0;',
    'return x > y ? 1 : x < y ? -[-1-]{+2+} : 0;',
    'return x > y ? 1 : x < y ? -[-1-]{+0+} : 0;',
    'if (from [-<-]{+<=+} 0)',
    'if (from < [-0-]{+1+})',
    '(void)[-!-]{+!!+}lseek(from, 0, SEEK_SET);',
    'if (value [-<-]{+<=+} 3)',
    'return value [->-]{+>=+} max ? max : value;',
}


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
    code, survivors, out = project.mutants('--min', '82')
    assert survivors == SURVIVORS, survivors
    assert 'mutants: 29 made, 24 killed (82.8 %), 0 equivalent, 5 survived\n' in out, out
    assert code == 0, code
    assert out.count('not reached by any test') == 2, out


def too_few_killed_is_an_error(project):
    code, _, out = project.mutants('--min', '82.8')
    assert code == 1, out


def an_equivalent_one_does_not_count(project):
    project.put('tests/mutants/equivalent', EQUIVALENT)
    code, survivors, out = project.mutants('--min', '85')
    assert len(survivors) == 4, survivors
    assert 'mutants: 29 made, 24 killed (85.7 %), 1 equivalent, 4 survived\n' in out, out
    assert code == 0, code


def a_stale_entry_is_an_error(project):
    project.put('tests/mutants/equivalent', STALE)
    code, _, out = project.mutants()
    assert code == 1 and 'no such mutant any more' in out, out
    code, _, out = project.mutants('--min', '0', '--in', 'limits.c')
    assert code == 0 and 'no such mutant any more' in out, out
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


def a_changed_header_is_seen(project):
    for path, text in (('src/limits.h', '#define LEAST 1\n'),
                       ('src/limits.c', 'int least(int v) { return v < LEAST ? LEAST : v; }\n')):
        with open(project.root / path, 'a') as file:
            file.write(text)
    code, _, out = project.mutants('--list', '--in', 'limits.c')
    assert code == 0 and 'v [-<-]' in out, out


def changes_without_an_effect_are_not_made(project):
    path = project.root / 'src/limits.c'
    path.write_text(WITHOUT_EFFECT)
    for seed in 'abcdefgh':
        _, _, out = project.mutants('--list', '--in', 'limits.c', '--seed', seed)
        changes = {line.split(': ', 2)[2] for line in out.splitlines() if 'limits.c:' in line}
        assert not changes & NOT_MADE, changes & NOT_MADE
        assert 'return x [->-]{+<=+} y ? 1 : x < y ? -1 : 0;' in changes, changes
        assert 'if (from [-<-]{+>=+} 0)' in changes, changes


TESTS = (numbers_are_known, too_few_killed_is_an_error, an_equivalent_one_does_not_count,
         a_stale_entry_is_an_error, a_better_test_kills_more, the_seed_chooses,
         folders_and_changed_lines_choose, a_changed_header_is_seen,
         changes_without_an_effect_are_not_made)


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
