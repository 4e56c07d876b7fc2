"""The copy of the project that the mutants are built in.

    build-mutants/source      the working tree, with mutants in src/
    build-mutants/build       its Meson build
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

MESON = os.environ.get('MESON', 'meson')
# An array whose size is a mutant would be of variable length, a changed null pointer a number.
C_ARGS = '-w -Wvla -Werror=vla -Wint-conversion -Werror=int-conversion'
SETUP = ['-Dbuildtype=plain', '-Doptimization=0', '-Ddebug=false', '-Dwarning_level=0',
         '-Db_lundef=false']
ERROR = re.compile(r'^([^\s:]+):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$', re.MULTILINE)


class Copy:
    def __init__(self, root, directory, options):
        self.root = pathlib.Path(root)
        self.source = pathlib.Path(directory, 'source')
        self.build = pathlib.Path(directory, 'build')
        self.options = options
        self.header = pathlib.Path(directory, 'mutant.h')

    def paths(self):
        """What git tracks or would track, as the working tree has it."""
        listed = subprocess.run(['git', 'ls-files', '-z', '-co', '--exclude-standard', '.'],
                                cwd=self.root, check=True, capture_output=True).stdout
        return sorted(path for path in listed.decode().split('\0')
                      if path and os.path.lexists(self.root / path))

    def update(self, mutated, without=()):
        """Brings the copy up to date; files of `mutated` (path -> bytes) have these contents, and
        those of `without` stay as they are."""
        paths = self.paths()
        self.header.parent.mkdir(parents=True, exist_ok=True)
        write_if_changed(self.header, pathlib.Path(__file__).with_name('mutant.h').read_bytes())
        for path in paths:
            if path not in without:
                copy_file(self.root / path, self.source / path, mutated.get(path))
        for old in set(map(str, self.present())) - set(paths):
            (self.source / old).unlink()

    def present(self):
        for directory, folders, files in os.walk(self.source):
            folders[:] = [name for name in folders if name != 'node_modules']
            for name in files + [n for n in folders if os.path.islink(os.path.join(directory, n))]:
                yield pathlib.Path(directory, name).relative_to(self.source)

    def set_up(self):
        """Makes the copy and its build, or brings what sources are parsed with up to date. Sources
        with mutants of an earlier run stay, because most of them will be written again."""
        if (self.build / 'build.ninja').exists():
            self.update({}, {path for path in self.paths() if path.startswith('src/') and
                             path.endswith('.c') and (self.source / path).exists()})
            run(['ninja', '-C', self.build, 'build.ninja'])
        else:
            self.update({})
            run([MESON, 'setup', self.build, self.source, *SETUP, f'-Dc_args={C_ARGS}',
                 *self.options])

    def compile_arguments(self):
        """path -> what libclang has to know to parse it."""
        found = {}
        for entry in json.loads((self.build / 'compile_commands.json').read_text()):
            path = pathlib.Path(os.path.normpath(pathlib.Path(entry['directory'], entry['file'])))
            if path.is_relative_to(self.source):
                found.setdefault(str(path.relative_to(self.source)),
                                 parser_arguments(entry['directory'], entry['command']))
        return found

    def compile(self):
        """None, or the output of a failed build."""
        done = subprocess.run(['ninja', '-C', self.build, '-k', '0', '-j', str(os.cpu_count())],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout if done.returncode else None

    def errors(self, output):
        """path -> lines with errors, of what a compiler printed."""
        found = {}
        for place, line, _ in ERROR.findall(output):
            path = pathlib.Path(os.path.normpath(self.build / place))
            if path.is_relative_to(self.source):
                found.setdefault(str(path.relative_to(self.source)), set()).add(int(line))
        return found


def parser_arguments(directory, command):
    words = shlex.split(command)
    kept = []
    for word in words:
        if word.startswith('-I'):
            kept.append('-I' + os.path.join(directory, word[2:]))
        elif word.startswith(('-D', '-std=', '-O')):
            kept.append(word)
    return kept


def copy_file(original, copy, content):
    if not original.is_symlink():
        if write_if_changed(copy, original.read_bytes() if content is None else content):
            shutil.copymode(original, copy)
    elif not copy.is_symlink() or os.readlink(copy) != os.readlink(original):
        copy.unlink(missing_ok=True)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.symlink_to(os.readlink(original))


def write_if_changed(path, content):
    try:
        if path.read_bytes() == content:
            return False
    except OSError:
        path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True


def run(command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise SystemExit(f'mutants: {command[0]} failed:\n{done.stdout}')
    return done.stdout
