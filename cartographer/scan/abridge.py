# SPDX-License-Identifier: BSD-3-Clause
"""Shortens Python text before it is parsed: most of a file are bodies of functions, and of these only nested
definitions, imports and calls that register become facts. A grammar reads the rest three times faster.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.patterns import possessive

if TYPE_CHECKING:
    from collections.abc import Iterator

# Calls worth keeping wherever they stand have one of these in their name.
REGISTERING = (
    b"register", b"impl", b"define", b"fallthrough", b"fallback", b"Library", b"custom_op", b"triton_op", b"_make_prim",
    b"infer_schema", b"opaque_type",
)
_CALLED = re.compile(rb"\w*\s*\(")
_IMPORT = re.compile(rb"import\b")

_STRING = (
    rb'(?:"""(?:[^"\\]++|\\.|"(?!""))*+"""'
    rb"|'''(?:[^'\\]++|\\.|'(?!''))*+'''"
    rb'|"(?!"")(?:[^"\\\n]++|\\.)*+"'
    rb"|'(?!'')(?:[^'\\\n]++|\\.)*+')"
)
_DEEPEST = 8  # brackets within brackets; what is nested deeper is kept


def _bracket(depth: int) -> bytes:
    """What stands between two brackets, as deep as it may go."""
    inside = rb"[^\"'#()\[\]{}\\]++|\\\n|#[^\n]*+|" + _STRING
    if depth:
        inside += b"|" + _bracket(depth - 1)
    return rb"[(\[{](?:" + inside + rb")*+[)\]}]"


# A statement with all lines that its strings and brackets hold.
_LINE = rb"(?:[^\n\"'#()\[\]{}\\]++|\\\n|#[^\n]*+|" + _STRING + b"|" + _bracket(_DEEPEST) + rb")*+\n"
_EMPTY = rb"(?:[ ]*+(?:#[^\n]*+)?\n)*+"  # what has no say in where blocks begin and end
_DEF = rb"(?:async[ ]++)?def\b"
_KEPT = rb"(?:def|class|async|import|from)\b|@"
_CLAUSE = rb"(?:else|elif|except|finally)\b"

_OUTSIDE = possessive(rb"(?s)(?:[ ]*+\n|[ ]*+(?!%b|#)(?=[^\n])%b)*+" % (_DEF, _LINE))  # of functions; up to one or to a comment
_COMMENTS = possessive(rb"(%b)([ ]*+)(?=[^\n])" % _EMPTY)
_HEADER = possessive(rb"(?s)([ ]*+)%b%b" % (_DEF, _LINE))
_INDENT = possessive(rb"%b([ ]*+)(?=[^\n])" % _EMPTY)
_STATEMENT = possessive(rb"(?s)[ ]*+" + _LINE)
# Statements of one indentation, each with its blocks and clauses, in which nothing is looked for.
_PLAIN = possessive(
    rb"(?s)(?=([ ]++))(?>%(empty)b\1(?![ ]|%(kept)b|%(clause)b)%(line)b"
    rb"(?:%(empty)b\1(?:[ ]++(?!%(kept)b)|(?=%(clause)b))%(line)b)*+"
    rb"(?=%(empty)b(?![ ]*+#)(?:(?!\1)|\1(?![ ]|%(clause)b))))++"
    % {b"empty": _EMPTY, b"kept": _KEPT, b"clause": _CLAUSE, b"line": _LINE},
)


def abridged(data: bytes, called: tuple[bytes, ...] = REGISTERING) -> bytes:
    """The text with uninteresting statements of functions replaced by `0` on their last line, and without comments between definitions.
    Lines keep their numbers. From where the text is unusual, it is left as it is. Statements stay that call a function with one of
    the words `called` in its name.
    """
    return _Abridgement(data, called).read() if _is_usual(data) else data


class _Abridgement:
    """One pass over a text."""

    def __init__(self, data: bytes, called: tuple[bytes, ...]) -> None:
        self.data = data
        self.stops = [*_stops(data, called), len(data)]
        self.stop = 0  # the first of them that is not behind us
        self.pieces: list[bytes] = []
        self.position = 0  # up to where the pieces go

    def read(self) -> bytes:
        """The abridged text."""
        data = self.data
        at = 0
        while True:
            outside = _OUTSIDE.match(data, at)
            assert outside is not None
            at = outside.end()
            if (header := _HEADER.match(data, at)) is not None:
                at = self._body(header.end(), header.end(1) - header.start(1))
            elif (comments := _COMMENTS.match(data, at)) is not None and comments.end(1) > at:
                at = self._comments(comments)
            else:
                return b"".join((*self.pieces, data[self.position :]))

    def _replace(self, start: int, end: int, by: bytes) -> None:
        self.pieces += (self.data[self.position : start], b"\n" * (self.data.count(b"\n", start, end) - by.count(b"\n")), by)
        self.position = end

    def _comments(self, m: re.Match[bytes]) -> int:
        """Leave comments out, but none that may belong to the end of a block: it counts as a line of the block."""
        if b"\n" + m[2] + b" " not in b"\n" + m[1]:
            self._replace(m.start(), m.end(1), b"")
        return m.end(1)

    def _body(self, at: int, outer: int) -> int:
        """Abridge what is indented deeper than the header before `at`; where to read on."""
        data = self.data
        while (indent := _INDENT.match(data, at)) is not None and indent.end(1) - indent.start(1) > outer:
            start = indent.start(1)
            while self.stops[self.stop] < start:
                self.stop += 1
            plain = _PLAIN.match(data, start, self.stops[self.stop])
            statement = plain or _STATEMENT.match(data, start)
            if statement is None:
                return len(data)
            at = statement.end()
            if plain is not None:
                self._replace(start, at, plain[1] + b"0\n")
        return at


def _is_usual(data: bytes) -> bool:
    """Whether lines and indentation are what they seem to be."""
    if b"\t" in data or b"\r" in data or b"\f" in data:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _stops(data: bytes, called: tuple[bytes, ...]) -> list[int]:
    """What must be kept wherever it stands in a statement: calls that register, imports that do not begin a line."""
    return sorted((*calling(data, called), *_imports_within(data)))


def calling(data: bytes, words: tuple[bytes, ...] = REGISTERING) -> Iterator[int]:
    """The offsets of words (of registering) in names that are called; a name may come more than once."""
    for word in words:
        at = data.find(word)
        while at >= 0:
            if _CALLED.match(data, at + len(word)) is not None:
                yield at
            at = data.find(word, at + 1)


def _imports_within(data: bytes) -> Iterator[int]:
    """`if x: import y`, `a = 1; import y`, and what a backslash continues."""
    for m in _IMPORT.finditer(data):
        begin = data.rfind(b"\n", 0, m.start()) + 1
        line = data[begin : m.start()]
        if b":" in line or b";" in line or data[begin - 2 : begin] == b"\\\n":
            yield m.start()
