"""Shared by the tools that write pages as C."""
import pathlib

LIBRARY = ('dist/uPlot.iife.min.js', 'dist/uPlot.min.css', 'LICENSE')
ESCAPES = {'\\': '\\\\', '"': '\\"', '\n': '\\n', '\t': '\\t', '?': '\\?'}


def read(paths):
    return [pathlib.Path(path).read_text(encoding='utf-8') for path in paths]


def parts(paths):
    """The styles of a page as one, and its scripts."""
    styles = read(path for path in paths if path.endswith('.css'))
    return ''.join(styles), read(path for path in paths if path.endswith('.js'))


def literal(text):
    """A C string; bytes above ASCII as three octal digits, so that a digit may follow."""
    lines = []
    for line in text.splitlines(keepends=True):
        bytes_ = (ESCAPES.get(c) or ''.join(c if b < 128 else f'\\{b:03o}' for b in c.encode())
                  for c in line)
        lines.append('    "' + ''.join(bytes_) + '"')
    return '\n'.join(lines)


def scope(scripts):
    return "(function () {\n'use strict';\n" + '\n'.join(scripts) + '})();\n'


def installed_library(web, work):
    """Script and style of the chart library, from web/vendor or from npm; or None."""
    place = web / 'vendor'
    if not place.exists():
        place = work / 'node_modules/uplot'
    if not place.exists():
        return None
    script, style, license_ = read(place / name for name in LIBRARY)
    return '/*!\n' + license_ + '*/\n' + script, style
