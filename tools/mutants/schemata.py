"""Writes many mutants into one source file, so that all of them are compiled at once.

An expression becomes `(PT_MUTANT(17) ? (changed) : (original))`. Only the original contains further
mutants, because at most one is active. If the expression has no side effects, the coverage run
computes both and compares them: a test in which they are always equal cannot detect the mutant.

A constant table gets a constructor, which contains the changed declaration and copies its value
over the table. If the number is in a macro that tables are made from, the constructor is compiled
with the changed macro. Line numbers stay the same.
"""
import re
from itertools import groupby

STATIC_CONST = b'static const '
WORD = re.compile(rb'[A-Za-z_]\w*')


def flat(text):
    """On one line, to keep line numbers."""
    return text.replace(b'\\\n', b' ').replace(b'\n', b' ')


class Rewriter:
    def __init__(self, source, file, mutants):
        self.source = source
        self.file = file
        self.mutants = sorted(mutants, key=lambda m: (m.first, -m.last, m.id))
        self.tables = {id(m): self.tables_of(m) for m in self.mutants}
        for first in {first for tables in self.tables.values() for first, _ in tables}:
            self.let_change(first)

    def let_change(self, first):
        """The compiler would use the numbers of a constant structure without reading it."""
        if self.source.startswith(STATIC_CONST, first):
            constant = first + len(STATIC_CONST)
            self.source = (self.source[:first] + b'static'.ljust(len(STATIC_CONST)) +
                           self.source[constant:])

    def tables_of(self, mutant):
        """{(first, last): variables} of the constant declarations that the mutant changes."""
        found = {}
        words = self.macros_using(mutant.function) if mutant.form == 'macro' else set()
        for variable in self.file.variables:
            place = variable.first, variable.last
            if mutant.form == 'table' and place == (mutant.first, mutant.last) or \
                    not variable.is_in_function and words & self.words_of(*place):
                found.setdefault(place, []).append(variable)
        return found

    def macros_using(self, name):
        """The macro and those that mention it, directly or indirectly."""
        found, size = {name}, 0
        while size != len(found):
            size = len(found)
            found |= {m.name for m in self.file.macros if m.mentioned & found}
        return {name.encode() for name in found}

    def words_of(self, first, last):
        return set(WORD.findall(self.source[first:last]))

    def rewrite(self, marks, header):
        """The text with its mutants, or the original if there are none.

        marks: name of a variable -> ids of mutants; functions that use the variable mark these.
        """
        inserted = sorted(self.constructors() + self.function_marks(marks))
        expressions = [m for m in self.mutants if not self.tables[id(m)]]
        if not inserted and not expressions:
            return self.source
        parts, at = [], 0
        for place, texts in groupby(inserted + [(len(self.source), b'')], key=lambda pair: pair[0]):
            inside = [m for m in expressions if at <= m.first < place]
            parts += [self.render(at, place, inside), *(text for _, text in texts)]
            at = place
        return b'#include "%s"\n#line 1\n' % header.encode() + b''.join(parts)

    # -- expressions

    def render(self, first, last, mutants):
        """Text first..last with the mutants in it, which are sorted: by place, outer ones first."""
        parts, at, index = [], first, 0
        while index < len(mutants):
            place = start, end = mutants[index].first, mutants[index].last
            after = index
            while after < len(mutants) and mutants[after].first < end:
                after += 1
            same = [m for m in mutants[index:after] if (m.first, m.last) == place]
            inner = [m for m in mutants[index:after] if (m.first, m.last) != place]
            text = self.render(start, end, inner)
            for mutant in same:
                text = self.choice(mutant, text)
            parts += [self.source[at:start], text]
            at, index = end, after
        return b''.join(parts + [self.source[at:last]])

    def choice(self, mutant, original):
        text = flat(self.source[mutant.first:mutant.last])
        test = b'PT_MUTANT(%d)' % mutant.id
        if mutant.form == 'statement':
            return b'(%s ? (void)0 : (void)(%s))' % (test, original)
        if mutant.form == 'condition':
            return b'(%s ? !(%s) : !!(%s))' % (test, text, original)
        changed = self.changed(mutant.first, mutant.last, mutant)
        if not mutant.is_pure:
            return b'(%s ? (%s) : (%s))' % (test, changed, original)
        return (b'(pt_mutant_active == %d ? (%s) : ({ __auto_type pt_was_%d = (%s); '
                b'if (pt_mutant_marks) pt_mutant_mark(%d, !(pt_was_%d == (%s))); pt_was_%d; }))'
                % (mutant.id, changed, mutant.id, original, mutant.id, mutant.id, changed,
                   mutant.id))

    def changed(self, first, last, mutant):
        return flat(self.source[first:mutant.start] + mutant.new.encode() +
                    self.source[mutant.end:last])

    # -- constant data

    def constructors(self):
        """(place, text) for each mutant of constant data."""
        found = []
        for mutant in self.mutants:
            tables = self.tables[id(mutant)]
            if tables:
                last_end = max(last for _, last in tables)
                place = self.source.index(b';', last_end - 1) + 1
                text = (self.table_constructor(mutant, tables) if mutant.form == 'table' else
                        self.macro_constructor(mutant, tables))
                line = self.source.count(b'\n', 0, place) + 1
                found.append((place, b'\n%s\n#line %d\n' % (text, line)))
        return found

    def table_constructor(self, mutant, tables):
        return constructor(mutant, self.changed(mutant.first, mutant.last, mutant), tables)

    def macro_constructor(self, mutant, tables):
        macro = next(m for m in self.file.macros if m.first <= mutant.start < m.last)
        name = macro.name.encode()
        declarations = b'; '.join(self.source[first:last] for first, last in sorted(tables))
        return b'\n'.join([
            b'#pragma push_macro("%s")' % name,
            b'#undef %s' % name,
            b'#define %s' % self.changed(macro.first, macro.last, mutant),
            constructor(mutant, flat(declarations), tables),
            b'#pragma pop_macro("%s")' % name,
        ])

    def function_marks(self, marks):
        """(place, text) at the start of functions that use changed tables."""
        found = []
        for function in self.file.functions:
            ids = sorted(set().union(*(marks.get(name, ()) for name in function.used)))
            if ids:
                found.append((function.body, b''.join(b' (void)PT_MUTANT(%d);' % i for i in ids)))
        return found


def constructor(mutant, declaration, tables):
    """Declares the changed variables in an inner block and copies them over the outer ones."""
    names = [v.plain_name.encode() for variables in tables.values() for v in variables]
    outer = b''.join(b'const void *const pt_to_%d = &%s; const size_t pt_size_%d = sizeof %s; '
                     % (i, name, i, name) for i, name in enumerate(names))
    copies = b''.join(b'pt_mutant_copy(pt_to_%d, &%s, pt_size_%d); ' % (i, name, i)
                      for i, name in enumerate(names))
    return (b'__attribute__((constructor(102))) static void pt_mutant_put_%d(void) '
            b'{ if (pt_mutant_active == %d) { %s{ %s; %s} } }'
            % (mutant.id, mutant.id, outer, declaration, copies))


def marks_of(files, rewriters):
    """Name of a variable -> ids of the mutants of constant data that are reachable through it."""
    users = {}
    for file in files:
        for variable in file.variables:
            for used in variable.used:
                users.setdefault(used, set()).add(variable.name)
    marks = {}
    for rewriter in rewriters:
        for mutant in rewriter.mutants:
            waiting = [v.name for variables in rewriter.tables[id(mutant)].values()
                       for v in variables]
            seen = set()
            while waiting:
                name = waiting.pop()
                if name not in seen:
                    seen.add(name)
                    marks.setdefault(name, set()).add(mutant.id)
                    waiting += users.get(name, ())
    return marks


def rewrite_all(sources, files, mutants, header):
    """path -> text with mutants, of all files."""
    by_path = {}
    for mutant in mutants:
        by_path.setdefault(mutant.file, []).append(mutant)
    rewriters = [Rewriter(sources[file.path], file, by_path.get(file.path, [])) for file in files]
    marks = marks_of(files, rewriters)
    return {r.file.path: r.rewrite(marks, header) for r in rewriters}
