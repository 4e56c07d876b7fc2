"""The tests that mutants are run against: programs of Meson's list, command-line cases one by one.

Each run is alone in namespaces of its own (see isolate), so that runs beside each other share no
port, name or file, and that a mutant which signals or deletes at random harms nobody.
"""
import hashlib
import json
import os
import pathlib
import re
import resource
import subprocess
import time
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
UNSHARE = ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--fork',
           '--kill-child', '--mount-proc', '--net', '--ipc']
GIBIBYTE = 1 << 30
SLOW_SECONDS = 30 # a test that takes longer, on a machine that is not busy, is not used
RESULT = re.compile(r'^(ok|not ok) \d+ - ([^\s:]+):', re.MULTILINE)


@dataclass
class Test:
    name: str
    command: list
    environment: dict
    files: list             # besides the shared ones: what its result depends on
    seconds: float = 0
    print: str = ''         # fingerprint of all it depends on
    runner: tuple = ()      # a program that runs several of these tests, named by their `case`
    case: str = ''
    is_timed: bool = False  # a busy machine may make it fail: a failure must happen twice


class Runner:
    def __init__(self, copy, scratch):
        self.copy = copy
        self.scratch = pathlib.Path(scratch)
        self.directory = self.scratch.parent
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.unshare = UNSHARE + ([] if os.geteuid() == 0 else ['--map-root-user'])

    def is_possible(self):
        done = subprocess.run(self.isolated(['true']), stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode:
            print(f'mutants: namespaces are not permitted here: {done.stderr.strip()}')
        return done.returncode == 0

    def isolated(self, command):
        return [*self.unshare, HERE / 'isolate', self.directory, self.scratch, *command]

    def run(self, test, variables, cpu_seconds, wall_seconds, log=None):
        """None if the test passed, else what happened: its exit code, or 'timeout'."""
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
            resource.setrlimit(resource.RLIMIT_DATA, (2 * GIBIBYTE, 2 * GIBIBYTE))

        # as `meson test` does: memory that is not initialized is not zero by chance
        environment = {'MALLOC_PERTURB_': '165'} | {
            name: value for name, value in os.environ.items()
            if not name.startswith(('PITOT', 'MUTANT', 'MAKE', 'MFLAGS', 'TMPDIR'))}
        with open(log or os.devnull, 'wb') as out:
            process = subprocess.Popen(
                self.isolated(test.command), env=environment | test.environment | variables,
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
                preexec_fn=limit)
            try:
                code = process.wait(wall_seconds)
            except subprocess.TimeoutExpired:
                process.kill() # and with it, by --kill-child, all that it started
                process.wait()
                return 'timeout'
        return None if code == 0 else f'exit {code}'

    def cover(self, test, count):
        """Runs a test without a mutant and records which ones it reaches."""
        marks = self.scratch / f'marks-{file_name(test)}'
        marks.write_bytes(bytes(2 * (count + 1)))
        marks.chmod(0o666)
        started = time.monotonic()
        busy = max(1, os.getloadavg()[0] / os.cpu_count())
        result = self.run(test, {'MUTANT_COVER': str(marks)}, 2 * SLOW_SECONDS,
                          busy * SLOW_SECONDS, self.scratch / f'log-{file_name(test)}')
        test.seconds = time.monotonic() - started
        content = marks.read_bytes()
        marks.unlink()
        reached, differs = ([i for i, mark in enumerate(content[half::2]) if mark]
                            for half in (0, 1))
        return {'print': test.print, 'seconds': test.seconds, 'result': result,
                'reached': reached, 'differs': differs}

    def passes_in_time(self, test):
        """Without a mutant, within the same limits?"""
        return self.run(test, {}, *limits([test])) is None

    def kills(self, tests, mutant):
        """(the test that failed, how), or None. Tests that are run by one program are one batch."""
        variables = {'MUTANT': str(mutant.id)}
        if len(tests) == 1:
            how = self.run(tests[0], variables, *limits(tests))
            return (tests[0], how) if how else None
        log = self.scratch / f'batch-{mutant.id}'
        how = self.run(batch(tests), variables, *limits(tests), log)
        output = log.read_text(errors='replace')
        log.unlink()
        if not how:
            return None
        results = dict(reversed(found) for found in RESULT.findall(output))
        failed = [test for test in tests if results.get(test.case) != 'ok']
        return max(failed or tests, key=lambda test: test.case in results), how


def limits(tests):
    """Seconds of CPU time and of time that tests may take, in all."""
    seconds = sum(test.seconds for test in tests)
    return int(3 + 4 * seconds), 20 + 10 * seconds


def batch(tests):
    program, *arguments = tests[0].runner
    return Test('batch', [program, '--fail-fast', *arguments, *(test.case for test in tests)],
                tests[0].environment, [])


def file_name(test):
    return test.name.replace('/', '_').replace(' ', '_')


def list_tests(copy, scratch, suites):
    listed = json.loads((copy.build / 'meson-info/intro-tests.json').read_text())
    tests = []
    for one in listed:
        own = {suite.rpartition(':')[2] for suite in one['suite']}
        if not own & set(suites):
            continue
        command = [absolute(copy, word) for word in one['cmd']]
        if 'cli' in own:
            tests += command_line_cases(command, one['env'], scratch)
        elif 'e2e' in own:
            tests += end_to_end_tests(one['name'], command, one['env'])
        else:
            files = [word for word in command if os.path.isabs(word) and os.path.exists(word)]
            if 'docs' in own: # compares pages with what the program prints
                files += [copy.source / 'docs', copy.source / 'packaging']
            if one['workdir']:
                command = ['env', '-C', one['workdir'], *command]
            tests.append(Test(one['name'], command, one['env'], files, is_timed='threads' in own))
    return tests


def absolute(copy, word):
    """Programs of the build are named from there."""
    path = copy.build / word
    return str(path) if path.exists() else word


def command_line_cases(command, environment, scratch):
    """tests/cli/run makes its fixtures for each call; here they are made once."""
    runner = pathlib.Path(command[0])
    fixtures = str(pathlib.Path(scratch, 'fixtures'))
    subprocess.run([*command, '--make-fixtures', fixtures], check=True)
    tests = []
    prefix = runner, '--jobs', '1', '--fixtures', fixtures, *command[1:]
    for case in sorted(runner.parent.glob('*/*.sh')):
        name = str(case.relative_to(runner.parent).with_suffix(''))
        tests.append(Test(f'cli {name}', [*prefix, name], environment,
                          [*sorted(case.parent.glob(case.stem + '.*')), runner],
                          runner=prefix, case=name, is_timed=True))
    return tests


def end_to_end_tests(name, command, environment):
    """The single tests of a program that uses tests/e2e/harness.py."""
    listed = subprocess.run(command, env=os.environ | environment | {'E2E_TESTS': 'list'},
                            text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if not listed.stdout.strip().isdigit():
        return []
    files = [word for word in command if os.path.isabs(word) and os.path.exists(word)]
    return [Test(f'{name} {number}', command, environment | {'E2E_TESTS': str(number)},
                 [*files, pathlib.Path(command[0]).parent], is_timed=True)
            for number in range(1, int(listed.stdout) + 1)]


def fingerprint(tests, shared):
    """Sets what tests depend on as a hash: their files and those that any of them may use."""
    known = {}

    def digest(path):
        if path not in known:
            state = hashlib.sha256()
            for file in sorted(path.rglob('*')) if path.is_dir() else [path]:
                if file.is_file():
                    state.update(str(file.relative_to(path.parent)).encode() + file.read_bytes())
            known[path] = state.digest()
        return known[path]

    common = b''.join(digest(path) for path in shared)
    for test in tests:
        test.print = hashlib.sha256(
            common + b''.join(digest(pathlib.Path(path)) for path in test.files)).hexdigest()
