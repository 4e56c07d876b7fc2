"""Finds the places of a C file where a mutant can be made.

libclang parses the file; its expressions give the extents, the text gives the operators. What
stands inside the invocation of a macro is left alone: its text may be used twice, or as a string.
"""
import bisect
import hashlib
import re
from dataclasses import dataclass, field

from clang import cindex
from clang.cindex import CursorKind, StorageClass, TypeKind

COMPARISONS = {
    '<': ('<=', '>='), '<=': ('<', '>'), '>': ('>=', '<='), '>=': ('>', '<'),
    '==': ('!=',), '!=': ('==',),
}
SIGNS = {'+': ('-',), '-': ('+',)}
LOGICAL = {'&&': ('||',), '||': ('&&',)}
ASSIGNMENTS = {'+=': '-=', '-=': '+='}
STEPS = {'++': '--', '--': '++'}
BINARY = {**COMPARISONS, **SIGNS, **LOGICAL}

# To drop one of these calls changes nothing that a test could see: they release, log or lock.
UNSEEN_CALLS = re.compile(r'(_release|_free|_unmap|_log|_warn|_debug|_info|_note|_mutex_lock)$'
                          r'|^(free|free_str|close|closedir|munmap|fclose|va_end|va_start|pt_log.*'
                          r'|pt_file_close|pt_fd_close)$')
# Functions that only release: what they forget is for sanitizers to find.
RELEASES = re.compile(r'^pt_\w+_(release|free)$|^(release|free)(_\w+)?$')
# Only equal operands tell these apart from the original.
AT_EQUALITY = {'<': '<=', '<=': '<', '>': '>=', '>=': '>'}
# They return a descriptor, which is never 0: the program keeps 0, 1 and 2 open (cmd/main.c).
OPENERS = (r'open|openat|socket|accept4?|dup|eventfd'
           r'|timerfd_create|memfd_create|mkstemp|mkostemp|shm_open|pidfd_open|inotify_init1')
# Their sizes are not changed: more memory is not seen, too little is for sanitizers to find.
ALLOCATIONS = re.compile(r'(malloc|calloc|realloc|_grow|_reserve)$')

COMMENT = re.compile(rb'/\*.*?\*/', re.DOTALL)
INTEGER = re.compile(r'^(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)([uUlL]*)$')
FLOATING = re.compile(r'^([0-9]*\.?[0-9]*(?:[eE][-+]?[0-9]+)?)([fFlL]?)$')
POINTERS = (TypeKind.POINTER, TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY)
STATEMENT_PARENTS = (CursorKind.IF_STMT, CursorKind.FOR_STMT, CursorKind.WHILE_STMT,
                     CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT, CursorKind.LABEL_STMT)


TRANSPARENT = (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR, CursorKind.CSTYLE_CAST_EXPR)
SIDE_EFFECT = re.compile(r'\+\+|--|(?<![=!<>])=(?!=)')
IMPURE = (CursorKind.CALL_EXPR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR, CursorKind.StmtExpr)


@dataclass
class Mutant:
    """One change: bytes start..end are replaced by `new`; first..last is the whole expression."""
    file: str
    line: int
    kind: str
    form: str               # value, condition, statement, macro or table
    first: int
    last: int
    start: int
    end: int
    new: str
    function: str           # or the table, or the macro
    is_pure: bool = False   # the whole expression can be computed twice
    diff: str = ''          # the line, with the change as `git diff --word-diff` writes it
    key: str = ''           # stays the same when lines or folders move
    id: int = 0
    killer: str = ''        # the test that failed
    reached: list = field(default_factory=list) # names of tests
    differs: list = field(default_factory=list) # of these, those in which it makes a difference
    tests: list = field(default_factory=list) # the same as tests, of one stage

    @property
    def name(self):
        """As in tests/mutants/equivalent."""
        return self.key.rpartition('|')[0]

    @property
    def site(self):
        return self.file, self.start, self.end


@dataclass
class Variable:
    """A variable outside of functions, or static in one."""
    name: str               # with its file if it is static
    plain_name: str
    first: int              # its declaration, or the macro that makes it
    last: int
    is_in_function: bool
    used: set = field(default_factory=set)


@dataclass
class Macro:
    name: str
    first: int              # from its name
    last: int
    mentioned: set          # identifiers in what it stands for


@dataclass
class Function:
    name: str
    body: int               # after its brace
    used: set = field(default_factory=set)


@dataclass
class File:
    path: str
    mutants: list = field(default_factory=list)
    variables: list = field(default_factory=list)
    functions: list = field(default_factory=list)
    macros: list = field(default_factory=list)


def number_variants(text):
    """What a number is changed to: 0, 1 and small ones by one, thresholds by a quarter."""
    match = INTEGER.match(text)
    if match:
        digits, suffix = match.groups()
        is_decimal = digits == '0' or not digits.startswith('0')
        base = 10 if is_decimal else 16 if digits[1] in 'xX' else 2 if digits[1] in 'bB' else 8
        value = int(digits, base) if base in (8, 10) else int(digits[2:], base)
        step = value // 4 if is_decimal and value >= 20 else 1
        values = [value + step] + ([value - step] if value > 0 else [])
        return [(str(v) if is_decimal else hex(v)) + suffix for v in values]
    match = FLOATING.match(text)
    if match and match[1] not in ('', '.'):
        value = float(match[1])
        values = [1.0] if value == 0 else [value * 1.25, value * 0.75]
        return [f'{v:.12g}' + ('' if re.search(r'[.e]', f'{v:.12g}') else '.0') + match[2]
                for v in values]
    return []


class Finder:
    def __init__(self, path, source, unit):
        self.path = path
        self.source = source
        self.unit = unit
        self.file = File(path)
        self.function = ''
        self.users = []     # the functions and variables we are in
        self.body = ''      # text of the function we are in
        self.is_order = False # it compares two elements for qsort or bsearch
        self.ties = set()   # comparisons that have the same outcome for equal operands
        self.macros = []
        self.comparison = None

    # -- text

    def span(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def text(self, cursor):
        first, last = self.span(cursor)
        return self.source[first:last].decode(errors='replace')

    def is_plain(self, first, last):
        """Neither end is inside a macro; one that begins or ends here may do so."""
        near = bisect.bisect_left(self.macros, (first,))
        for start, end in self.macros[max(0, near - 1):]:
            if start >= last:
                break
            if end > first and (start < first or end > last or (start, end) == (first, last)):
                return False
        return True

    def diff(self, start, end, new):
        line_start = self.source.rfind(b'\n', 0, start) + 1
        line_end = self.source.find(b'\n', start)
        line_end = len(self.source) if line_end < 0 else line_end
        old = self.source[start:end].decode(errors='replace')
        before = self.source[line_start:start].decode(errors='replace')
        after = self.source[end:max(end, line_end)].decode(errors='replace').split('\n')[0]
        change = (f'[-{old}-]' if old else '') + (f'{{+{new}+}}' if new else '')
        return ' '.join((before + change + after).split())

    def add(self, kind, form, cursor_span, start, end, new, is_pure=False):
        first, last = cursor_span
        self.file.mutants.append(Mutant(
            self.path, self.source.count(b'\n', 0, start) + 1, kind, form, first, last, start, end,
            new, self.function, is_pure, self.diff(start, end, new)))

    # -- declarations

    def find(self):
        path = self.unit.spelling
        main = [cursor for cursor in self.unit.cursor.get_children()
                if is_in_main_file(cursor, path)]
        self.macros = outermost(self.span(cursor) for cursor in main
                                if cursor.kind == CursorKind.MACRO_INSTANTIATION)
        for cursor in main:
            if cursor.kind == CursorKind.MACRO_DEFINITION:
                self.macro(cursor)
            elif cursor.kind == CursorKind.FUNCTION_DECL and cursor.is_definition():
                self.define_function(cursor)
            elif cursor.kind == CursorKind.VAR_DECL:
                self.variable(cursor, False)
        name_mutants(self.file.mutants)
        return self.file

    def define_function(self, cursor):
        body = list(cursor.get_children())[-1]
        self.function = cursor.spelling
        function = Function(cursor.spelling, self.span(body)[0] + 1)
        self.file.functions.append(function)
        self.users.append(function)
        self.body = self.text(body)
        self.is_order = [argument.type.spelling for argument in cursor.get_arguments()][:2] == \
            ['const void *', 'const void *'] and cursor.result_type.spelling == 'int'
        is_release = RELEASES.search(cursor.spelling) and cursor.result_type.spelling == 'void'
        if not is_release:
            self.statement(body)
        self.users.pop()
        self.function = ''

    def macro(self, cursor):
        """Numbers of what a macro stands for."""
        tokens = list(cursor.get_tokens())
        self.function = cursor.spelling
        mentioned = set()
        for token in tokens[1:]:
            if token.kind == cindex.TokenKind.IDENTIFIER:
                mentioned.add(token.spelling)
            elif token.kind == cindex.TokenKind.LITERAL:
                span = token.extent.start.offset, token.extent.end.offset
                for new in number_variants(token.spelling):
                    self.add('number', 'macro', span, *span, new)
        self.file.macros.append(Macro(cursor.spelling, *self.span(cursor), mentioned))
        self.function = ''

    def variable(self, cursor, is_in_function):
        initialiser = self.initialiser(cursor)
        if not initialiser:
            return
        is_static = cursor.storage_class == StorageClass.STATIC
        if is_in_function and not is_static:
            self.expression(initialiser, cursor)
            return
        first, last = self.span(cursor)
        is_plain = self.is_plain(first, last)
        name = f'{self.path}:{cursor.spelling}' if is_static else cursor.spelling
        variable = Variable(name, cursor.spelling, *((first, last) if is_plain else
                                                     self.macro_around(first)), is_in_function)
        self.file.variables.append(variable)
        outer, self.function = self.function, self.function or cursor.spelling
        self.users.append(variable)
        self.table(initialiser, variable if is_plain else None)
        self.users.pop()
        self.function = outer

    def macro_around(self, place):
        return self.macros[bisect.bisect_right(self.macros, (place, len(self.source))) - 1]

    def initialiser(self, cursor):
        """The child after the `=`; others are sizes of arrays."""
        children = [child for child in cursor.get_children() if child.kind.is_expression()]
        if not children:
            return None
        if not self.is_plain(*self.span(cursor)):
            return children[-1] # made by a macro, so that there is no text to look at
        at = self.span(children[-1])[0]
        between = COMMENT.sub(b'', self.source[cursor.location.offset:at])
        return children[-1] if between.rstrip().endswith(b'=') else None

    def table(self, cursor, variable):
        """Numbers of a constant initialiser."""
        if cursor.kind == CursorKind.DECL_REF_EXPR:
            self.use(cursor)
        if variable and not variable.is_in_function and cursor.kind in (
                CursorKind.INTEGER_LITERAL, CursorKind.FLOATING_LITERAL):
            self.number(cursor, None, 'table', (variable.first, variable.last))
        for child in self.without_designators(cursor):
            self.table(child, variable)

    def without_designators(self, cursor):
        """Children of an expression; of `[3] = x` only x."""
        children = list(cursor.get_children())
        if cursor.kind == CursorKind.UNEXPOSED_EXPR and len(children) > 1 and \
                self.source[self.span(cursor)[0]:][:1] in (b'[', b'.'):
            return children[-1:]
        return children

    def use(self, cursor):
        used = cursor.referenced
        if used is None or used.kind != CursorKind.VAR_DECL:
            return
        is_static = used.storage_class == StorageClass.STATIC
        if is_static or used.semantic_parent.kind == CursorKind.TRANSLATION_UNIT:
            name = f'{self.path}:{used.spelling}' if is_static else used.spelling
            for user in self.users:
                user.used.add(name)

    # -- statements and expressions

    def statement(self, cursor):
        for index, child in enumerate(cursor.get_children()):
            self.child_of_statement(cursor, index, child)

    def child_of_statement(self, parent, index, child):
        kind = child.kind
        if kind == CursorKind.DECL_STMT:
            for declaration in child.get_children():
                if declaration.kind == CursorKind.VAR_DECL:
                    self.variable(declaration, True)
            return
        if kind.is_statement() and not kind.is_expression():
            self.statement(child)
            return
        if not kind.is_expression():
            return
        if parent.kind == CursorKind.CASE_STMT and index == 0:
            return
        if self.is_statement(parent, index, child):
            self.expression_statement(child)
        elif parent.kind == CursorKind.IF_STMT and index == 0:
            self.condition(child)
            self.find_limiting_assignment(parent)
        self.expression(child, parent)

    def is_statement(self, parent, index, child):
        if parent.kind == CursorKind.COMPOUND_STMT:
            return True
        if parent.kind == CursorKind.DO_STMT:
            return index == 0
        return parent.kind in STATEMENT_PARENTS and index > 0 and \
            child == list(parent.get_children())[-1] or \
            parent.kind == CursorKind.IF_STMT and index > 0

    def expression_statement(self, cursor):
        span = self.span(cursor)
        if not self.is_plain(*span):
            return
        if cursor.kind == CursorKind.CALL_EXPR:
            if not UNSEEN_CALLS.search(cursor.spelling or ''):
                self.add('dropped call', 'statement', span, *span, '')
        elif cursor.kind == CursorKind.BINARY_OPERATOR and self.operator(cursor)[0] == '=':
            target = next(cursor.get_children())
            if target.kind != CursorKind.DECL_REF_EXPR:
                self.add('dropped assignment', 'statement', span, *span, '')

    def condition(self, cursor):
        """`if (x)`: no operator that could be changed, so it is turned round."""
        span = self.span(cursor)
        inner = bare(cursor)
        has_operator = inner.kind in (CursorKind.BINARY_OPERATOR, CursorKind.UNARY_OPERATOR) and \
            self.operator(inner)[0] in {**BINARY, '!': ()}
        if not has_operator and self.is_plain(*span):
            self.add('turned condition', 'condition', span, span[0], span[0], '!')

    def operator(self, cursor):
        """Text and place of the operator, ('', 0, 0) where a macro hides it."""
        children = list(cursor.get_children())
        first, last = self.span(cursor)
        if len(children) == 2:
            start, end = self.span(children[0])[1], self.span(children[1])[0]
        elif len(children) == 1 and self.span(children[0])[0] > first:
            start, end = first, self.span(children[0])[0]
        elif len(children) == 1:
            start, end = self.span(children[0])[1], last
        else:
            return '', 0, 0
        if start > end:
            return '', 0, 0
        between = COMMENT.sub(lambda m: b' ' * len(m[0]), self.source[start:end])
        text = between.strip()
        start += between.find(text)
        return text.decode(errors='replace'), start, start + len(text)

    def expression(self, cursor, parent):
        kind = cursor.kind
        if kind == CursorKind.DECL_REF_EXPR:
            self.use(cursor)
        elif kind == CursorKind.BINARY_OPERATOR:
            self.binary(cursor)
        elif kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR:
            self.assignment(cursor)
        elif kind == CursorKind.UNARY_OPERATOR:
            self.unary(cursor, parent)
        elif kind == CursorKind.CONDITIONAL_OPERATOR:
            condition, *others = cursor.get_children()
            self.find_tie(condition, others)
        elif kind in (CursorKind.INTEGER_LITERAL, CursorKind.FLOATING_LITERAL):
            around = self.comparison or cursor
            self.number(cursor, parent, 'value', self.span(around), self.comparison is not None)
        elif kind == CursorKind.CXX_UNARY_EXPR: # sizeof
            return
        elif kind == CursorKind.INIT_LIST_EXPR and self.is_empty_list(cursor):
            return
        elif kind == CursorKind.StmtExpr:
            for child in cursor.get_children():
                self.statement(child)
            return
        if kind == CursorKind.CALL_EXPR and ALLOCATIONS.search(cursor.spelling or ''):
            return
        outer = self.comparison
        self.comparison = self.comparison_around(cursor)
        for child in self.without_designators(cursor):
            if child.kind.is_expression():
                self.expression(child, cursor)
        self.comparison = outer

    def is_pure(self, cursor):
        """No call, assignment or step in it."""
        return not SIDE_EFFECT.search(self.text(cursor)) and \
            not any(inner.kind in IMPURE for inner in cursor.walk_preorder())

    def comparison_around(self, cursor):
        """The pure comparison that a number below this expression takes part in, or None."""
        if cursor.kind == CursorKind.BINARY_OPERATOR:
            text = self.operator(cursor)[0]
            if text in COMPARISONS:
                is_fit = self.is_pure(cursor) and self.is_plain(*self.span(cursor))
                return cursor if is_fit else None
            return self.comparison if text in ('+', '-', '*') else None
        return self.comparison if cursor.kind in TRANSPARENT else None

    def is_empty_list(self, cursor):
        return re.fullmatch(r'\{\s*0\s*,?\s*\}', self.text(cursor)) is not None

    # -- changes without an effect

    def find_tie(self, condition, others):
        """`a > b ? a : b`: equal operands give the same."""
        condition = bare(condition)
        operands = list(condition.get_children())
        if condition.kind == CursorKind.BINARY_OPERATOR and len(operands) == 2 and \
                {self.text(bare(o)) for o in operands} == {self.text(bare(o)) for o in others}:
            self.ties.add(self.span(condition))

    def find_limiting_assignment(self, cursor):
        """`if (a > b) a = b;`"""
        children = list(cursor.get_children())
        then = children[1]
        if then.kind == CursorKind.COMPOUND_STMT and len(list(then.get_children())) == 1:
            then = next(then.get_children())
        if len(children) == 2 and then.kind == CursorKind.BINARY_OPERATOR and \
                self.operator(then)[0] == '=':
            self.find_tie(children[0], then.get_children())

    def is_descriptor_test(self, cursor):
        """`fd < 0`: 0 itself does not occur."""
        if cursor.kind != CursorKind.BINARY_OPERATOR or self.operator(cursor)[0] not in ('<', '>='):
            return False
        left, right = (self.text(child) for child in cursor.get_children())
        return right == '0' and (re.search(r'(^|_|\W)fd$', left) is not None or re.search(
            rf'(?<![\w.>]){re.escape(left)} = [^;]*\b({OPENERS})\(', self.body) is not None)

    def has_no_effect(self, cursor, text, new):
        """Is it known that nothing can tell the two comparisons apart?"""
        return AT_EQUALITY.get(text) == new and (
            self.is_order or self.span(cursor) in self.ties or self.is_descriptor_test(cursor))

    def binary(self, cursor):
        text, start, end = self.operator(cursor)
        span = self.span(cursor)
        if text not in BINARY or not self.is_plain(*span):
            return
        right = list(cursor.get_children())[1]
        if text in SIGNS and right.type.get_canonical().kind in POINTERS:
            return # a difference of pointers; their sum is not C
        kind = ('comparison' if text in COMPARISONS else 'sign' if text in SIGNS else 'logical')
        is_pure = text not in LOGICAL and self.is_pure(cursor) # && and || guard their right side
        for new in BINARY[text]:
            if self.has_no_effect(cursor, text, new):
                continue
            self.add(kind, 'value', span, start, end, new, is_pure)

    def assignment(self, cursor):
        text, start, end = self.operator(cursor)
        if text in ASSIGNMENTS and self.is_plain(*self.span(cursor)):
            self.add('sign', 'value', self.span(cursor), start, end, ASSIGNMENTS[text])

    def unary(self, cursor, parent):
        text, start, end = self.operator(cursor)
        span = self.span(cursor)
        if not self.is_plain(*span):
            return
        if text == '-':
            self.add('sign', 'value', span, start, end, '')
        elif text == '!' and not self.source[:span[0]].endswith(b'(void)'):
            self.add('logical', 'value', span, start, end, '!!')
        elif text in STEPS and not (parent and parent.kind == CursorKind.FOR_STMT):
            self.add('sign', 'value', span, start, end, STEPS[text])

    def number(self, cursor, parent, form, whole, is_pure=False):
        span = self.span(cursor)
        is_null = parent is not None and parent.type.kind == TypeKind.POINTER and \
            parent.kind == CursorKind.UNEXPOSED_EXPR
        if is_null or not self.is_plain(*span):
            return
        if self.is_order and self.text(cursor) == '1': # only the sign is used
            # "-0": qsort asks only which is greater; to drop the sign is another mutant
            if not self.source[:span[0]].endswith(b'-'):
                self.add('number', form, whole, *span, '0', is_pure)
            return
        if self.comparison and self.is_descriptor_test(self.comparison):
            return
        for new in number_variants(self.text(cursor)):
            self.add('number', form, whole, *span, new, is_pure)


def bare(cursor):
    """Without casts that are not written, and parentheses."""
    while cursor.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
        children = list(cursor.get_children())
        if len(children) != 1:
            break
        cursor = children[0]
    return cursor


def is_in_main_file(cursor, path):
    """Also where a macro of a header makes a variable here."""
    if cindex.conf.lib.clang_Location_isFromMainFile(cursor.location):
        return True
    return cursor.kind == CursorKind.VAR_DECL and cursor.location.file and \
        cursor.location.file.name == path


def outermost(spans):
    """Sorted, without those that lie in another."""
    kept = []
    for first, last in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or first >= kept[-1][1]:
            kept.append((first, last))
    return kept


def name_mutants(mutants):
    """Keys that depend on the text around a change only; the same change twice is numbered."""
    seen = {}
    for mutant in mutants:
        key = f'{mutant.file.rpartition("/")[2]}|{mutant.function}|{mutant.diff}'
        seen[key] = seen.get(key, 0) + 1
        mutant.key = f'{key}|{seen[key]}'


def rank(mutant, seed):
    return hashlib.sha256(f'{seed}|{mutant.key}'.encode()).hexdigest()


def find(path, source, copy, arguments):
    """The File of `path`, whose text is `source`, as if it stood at `copy`."""
    unit = cindex.Index.create().parse(
        copy, args=arguments, unsaved_files=[(copy, source.decode(errors='replace'))],
        options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
    errors = [str(d) for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        raise ValueError(f'libclang cannot parse {path}: {errors[0]}')
    return Finder(path, source, unit).find()
