# SPDX-License-Identifier: BSD-3-Clause
"""Parses git's patch text: what each commit did to each file, without the lines themselves."""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING

import msgspec

from cartographer.errors import HistoryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MODIFIED, ADDED, DELETED, RENAMED, UNREADABLE = range(5)


class Change(msgspec.Struct, array_like=True, gc=False):
    """What one commit did to one file, against its first parent.

    `hunks` are 32-bit triples (lines taken out, first new line, lines put in); `old` is the former name of a renamed
    file; `blob` is empty when the content stays the same (a pure rename, a change of mode).
    UNREADABLE: the content before or after is not in this clone; `old` is then the name before if it had another.
    """

    kind: int
    path: bytes
    old: bytes = b""
    blob: bytes = b""
    hunks: bytes = b""


Event = tuple[str, list[Change]]

# Content lines begin with "+", "-" or "\", so nothing in them can be taken for a header. The literal line break in
# front lets the scanner jump from line to line, the look ahead drops nearly all of them at once.
_HEADER = re.compile(
    rb"\n(?=[@idnr0-9a-f])(?:@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@"
    rb"|index [0-9a-f]+\.\.([0-9a-f]+)"
    rb"|diff --git ([^\n]*)"
    rb"|(new|deleted) file mode "
    rb"|rename from ([^\n]*)"
    rb"|rename to ([^\n]*)"
    rb"|([0-9a-f]{40,64})(?=\n))"
)


class _Reader:
    """The commit and the file that the scanner is in."""

    def __init__(self) -> None:
        self.commit = ""
        self.changes: list[Change] = []
        self.hunks: array[int] = array("I")

    def open_file(self, names: bytes) -> None:
        self.close_file()
        self.changes.append(Change(MODIFIED, _same_name(names)))

    def close_file(self) -> None:
        if self.changes:
            self.changes[-1].hunks = self.hunks.tobytes()
        self.hunks = array("I")

    def header(self, found: re.Match[bytes]) -> None:
        """Take in a line about the file as a whole."""
        change = self.changes[-1]
        match found.lastindex:
            case 4:
                change.blob = found[4]
            case 6:
                change.kind = ADDED if found[6] == b"new" else DELETED
            case 7:
                change.kind, change.old = RENAMED, unquote(found[7])
            case 8:
                change.path = unquote(found[8])


def parse(chunks: Iterable[bytes]) -> Iterator[Event]:
    """The changes of each commit in the output of `git diff-tree --stdin -p -U0`. Commits without a difference do not occur in it.

    Raises HistoryError for what git would not print.
    """
    try:
        yield from _events(chunks)
    except (IndexError, ValueError, OverflowError) as error:
        raise HistoryError("git tells differences in a form that we cannot read", hint="try `git fsck`") from error


def _events(chunks: Iterable[bytes]) -> Iterator[Event]:
    reader = _Reader()
    for text in _whole_lines(chunks):
        for found in _HEADER.finditer(text):
            kind = found.lastindex
            if kind == 2 or kind == 3:  # noqa: PLR1714 - a million times over
                out, first, put = found.group(1, 2, 3)
                reader.hunks.extend((1 if out is None else int(out), int(first), 1 if put is None else int(put)))
            elif kind == 5:
                reader.open_file(found[5])
            elif kind == 9:
                reader.close_file()
                if reader.commit:
                    yield reader.commit, reader.changes
                reader.commit, reader.changes = found[9].decode("ascii"), []
            else:
                reader.header(found)
    reader.close_file()
    if reader.commit:
        yield reader.commit, reader.changes


def _whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    # Each piece begins with the line break before its first line and ends before one.
    rest = b"\n"
    for chunk in chunks:
        end = chunk.rfind(b"\n")
        if end < 0:
            rest += chunk
            continue
        yield rest + chunk[: end + 1]
        rest = chunk[end:]
    if len(rest) > 1:
        yield rest + b"\n"


def _same_name(names: bytes) -> bytes:
    # "a/NAME b/NAME"; a renamed file's names differ, but stand in lines of their own.
    half = len(names) // 2
    first = names[:half]
    return unquote(first)[2:]


_ESCAPE = re.compile(rb"\\(?:([0-7]{3})|(.))", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


def unquote(name: bytes) -> bytes:
    """A file name from git's output: git quotes it, with C escapes, when it contains a tab, a line break, a quote or the like."""
    if not name.startswith(b'"'):
        return name
    return _ESCAPE.sub(lambda m: bytes([int(m[1], 8)]) if m[1] else _LETTERS.get(m[2], m[2]), name[1:-1])


def triples(hunks: bytes) -> array[int]:
    """The hunks of a change: lines taken out, first new line, lines put in, and so on."""
    return array("I", hunks)
