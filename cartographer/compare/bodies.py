# SPDX-License-Identifier: BSD-3-Clause
"""Reduces the code of functions to a list of small numbers, one a statement: enough to tell whether and how much it changed.

Comments, white space and where lines are broken do not count.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from difflib import SequenceMatcher
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from cartographer.model.fact import FileFacts
    from cartographer.model.operator import Operator

ROLES = frozenset(("entry", "kernel", "device"))  # steps whose code is kept
_NO_CODE = frozenset(("enum", "declaration", "alias"))
_CLASSES = frozenset(("class", "struct"))  # a functor is meant where its head stands, a method where the method does
WRITERS = ("torchgen/", "tools/")  # what stands there writes code during the build: a kernel that it writes has no text in the tree
_SIZE = 5  # bytes a statement: four of its checksum, one of its lines
_MOST_LINES = 255
_COMMENT = re.compile(rb'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
_PYTHON_COMMENT = re.compile(rb'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*')
_STATEMENT = re.compile(rb"[^;{}]*[;{}]|[^;{}]+\Z")
_PYTHON_LINE = re.compile(rb"[^\n]+")


def of_steps(
    operators: Iterable[Operator], facts: Mapping[str, FileFacts], read: Callable[[Iterable[str]], Iterable[tuple[str, bytes]]],
) -> dict[str, dict[int, bytes]]:
    """For each step that is code of the tree, path -> line -> the statements of the function around it."""
    wanted: dict[str, set[int]] = {}
    chains = {id(chain): chain for operator in operators for chain in operator.kernels.values()}
    for path, line in {(step.path, step.line) for chain in chains.values() for step in chain.steps if step.role in ROLES}:
        if path in facts and not path.startswith(WRITERS):
            wanted.setdefault(path, set()).add(line)
    found: dict[str, dict[int, bytes]] = {}
    for path, data in read(sorted(wanted)):
        told = _extents(facts[path], sorted(wanted[path]))
        lines = data.split(b"\n")
        made = {
            extent: statements(b"\n".join(lines[extent[0] - 1 : extent[1]]), python=path.endswith(".py")) + _made_by(facts[path], extent)
            for extent in set(told.values())
        }
        found[path] = {line: made[extent] for line, extent in told.items()}
    return found


def _extents(facts: FileFacts, lines: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Line -> first and last line of the innermost function, functor or use of a macro that it is in."""
    spans = sorted(
        {(d.start, d.end, d.line if d.kind in _CLASSES else 0) for d in facts.definitions if d.kind not in _NO_CODE}
        | {(u.line, u.end_line, 0) for u in facts.uses}
    )
    starts = [start for start, _, _ in spans]
    found: dict[int, tuple[int, int]] = {}
    for line in lines:
        for start, end, head in reversed(spans[: bisect_right(starts, line)]):
            if end >= line and head in {0, line}:
                found[line] = (start, end)
                break
    return found


def _made_by(facts: FileFacts, extent: tuple[int, int]) -> bytes:
    """What the macros of this file make of a use: their own statements, which are code of the function as well."""
    names = {use.name for use in facts.uses if (use.line, use.end_line) == extent}
    return b"".join(statements(macro.body.encode("utf-8", "replace")) for macro in facts.macros if macro.name in names)


def statements(code: bytes, *, python: bool = False) -> bytes:
    """The statements of some code, each as a checksum and its number of lines. In Python each line, with its indentation, is one."""
    if python:
        pieces = _PYTHON_LINE.findall(_PYTHON_COMMENT.sub(_kept, code) if b"#" in code else code)
    else:
        code = _COMMENT.sub(_kept, code) if b"//" in code or b"/*" in code else code
        pieces = _STATEMENT.findall(code.replace(b"\\\n", b"\n").translate(None, b" \t\r\f\v"))
    packed = bytearray()
    for piece in pieces:
        text, lines = piece.strip(b"\n"), 1
        if b"\n" in text:
            parts = [part for part in text.split(b"\n") if part]
            text, lines = b"".join(parts), min(len(parts), _MOST_LINES)
        if python:
            text = text.rstrip()
        if text not in {b"", b";"}:  # `};` after a function says nothing
            packed += crc32(text).to_bytes(4, "little")
            packed.append(lines)
    return bytes(packed)


def _kept(found: re.Match[bytes]) -> bytes:
    """A text stays, of a comment its line ends."""
    return found[0] if found[0][:1] in b"\"'" else b"\n" * found[0].count(b"\n")


def difference(old: bytes, new: bytes) -> tuple[int, int]:
    """How two lists of statements differ: (lines of statements that were removed, lines of statements that were added)."""
    if old == new:
        return 0, 0
    before, after = list(_unpacked(old)), list(_unpacked(new))
    gone = come = 0
    keys = [[key for key, _ in side] for side in (before, after)]
    for kind, a, b, c, d in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
        if kind != "equal":
            gone += sum(lines for _, lines in before[a:b])
            come += sum(lines for _, lines in after[c:d])
    return gone, come


def _unpacked(packed: bytes) -> Iterator[tuple[bytes, int]]:
    for at in range(0, len(packed) - _SIZE + 1, _SIZE):
        yield packed[at : at + 4], packed[at + 4]
