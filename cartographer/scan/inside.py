# SPDX-License-Identifier: BSD-3-Clause
"""Reads the whole outline of a file: its surface, and the definitions inside of functions and strings."""

from __future__ import annotations

import re
import string
from bisect import bisect_right
from typing import TYPE_CHECKING

from cartographer.scan import parsing
from cartographer.scan.definitions import OutlineReader
from cartographer.scan.outline import Brackets, Found, Outline, Use
from cartographer.scan.text import Parens, brace_table, items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.scan.preprocess import Source

_STRINGIFIED = re.compile(r"(?:(\w+)\s*=\s*(?:[\w:]+\s*\+\s*)*)?\w*stringify\w*\s*\(")
_BEFORE_STRINGIFIED = string.ascii_letters + string.digits + "_:+= \t\n"
_LOCAL_CLASS = re.compile(r"(?<!\w)(?:struct|class)\b[^;{}()=]*\{")


def outline(source: Source, *, metal: bool = False) -> Outline:
    """The outline of a file, with classes inside of functions and stringified device code."""
    result = Outline(metal=metal)
    brackets = Brackets(brace_table(source.code), Parens(source.code))
    OutlineReader(source, brackets, result, (0, len(source.code))).read()
    if result.unread:
        _read_again(source, brackets, result)
    _local_classes(source, brackets, result)
    if "stringify" in source.code:
        _stringified(source, brackets, result)
    return result


def _stringified(source: Source, brackets: Brackets, result: Outline) -> None:
    """Device functions inside `jiterator_stringify(...)` (aten/src/ATen/jit_macros.h), named after their variable."""
    code = source.code
    for m in _uses_of_stringify(code):
        closing = brackets.parens.close(m.end() - 1, len(code))
        if closing < 0:
            continue
        around = [f for f in result.found if f.start <= m.start() and m.end() <= f.end]
        name = m.group(1) or ""
        prefix = around[-1].qualname if around else name
        if name and not (around and around[-1].name == name):
            prefix = f"{prefix}::{name}" if around else name
            result.found.append(Found("variable", name, prefix, m.start(), m.start(), closing))
        first = len(result.found)
        OutlineReader(source, brackets, result, (m.end(), closing), prefix).read()
        for found in result.found[first:]:
            if found.kind in ("function", "method"):
                found.kind = "device"


def _uses_of_stringify(code: str) -> Iterator[re.Match[str]]:
    """The uses of macros that stringify, each with the variable that is made of it."""
    done = 0
    while (at := code.find("stringify", done)) >= 0:
        m = _STRINGIFIED.search(code, done + len(code[done:at].rstrip(_BEFORE_STRINGIFIED)))
        if m is None:
            return
        yield m
        done = m.end()


def _local_classes(source: Source, brackets: Brackets, result: Outline) -> None:
    """Classes that stand in function bodies: their methods are functions of their own."""
    bodies = sorted((f.body, f.qualname) for f in result.found if f.body is not None and f.kind != "variable")
    starts = [body[0] for body, _ in bodies]
    done = 0
    for at in _class_words(source.code):
        if at < done:
            continue
        index = bisect_right(starts, at) - 1
        if index < 0 or bodies[index][0][1] < at or (m := _LOCAL_CLASS.match(source.code, at)) is None:
            continue
        done = brackets.braces.get(m.end() - 1, len(source.code))
        OutlineReader(source, brackets, result, (at, min(done + 1, len(source.code))), bodies[index][1]).read()


def _read_again(source: Source, brackets: Brackets, result: Outline) -> None:
    """Let the grammar look for functions and classes in what made no sense, and read those that it finds."""
    for start, end, prefix in tuple(result.unread):
        for first, last in parsing.definitions_in(source.code, start, end):
            OutlineReader(source, brackets, result, (first, last), prefix).read()


def _class_words(code: str) -> list[int]:
    """Where `struct` and `class` begin."""
    found = []
    for word in ("struct", "class"):
        at = code.find(word)
        while at >= 0:
            found.append(at)
            at = code.find(word, at + 6)
    return sorted(found)


def use_arguments(source: Source, use: Use) -> tuple[str, ...]:
    """The arguments of a macro use, as they are written."""
    return items(source.code, source.plain, use.group[0] + 1, use.group[1])
