# SPDX-License-Identifier: BSD-3-Clause
"""Takes Objective-C's declarations out of a text, so that the C++ around them can be read as such."""

from __future__ import annotations

import re

from cartographer.scan.preprocess import blank, folded
from cartographer.scan.text import brace_table

_BLOCK = re.compile(r"@(interface|protocol|implementation)\b\s*(\w*)[^\n{;]*(;|$|\{)", re.MULTILINE)
_METHOD = re.compile(r"^[ \t]*[-+]\s*\([^;{}]*?\)\s*(\w+[^;{}]*)\{", re.MULTILINE)
_SELECTOR = re.compile(r"\w+:|^\w+")
_PARAMETER = re.compile(r"\(([^()]*)\)\s*(\w+)")
_FORWARD = re.compile(r"@(?:class|property|synthesize|dynamic|import)\b[^;\n]*;?")

Method = tuple[str, int, int, int, int, tuple[str, ...]]  # selector, start, name, brace, closing brace, parameters


def take_out(code: str) -> tuple[str, list[tuple[str, Method]]]:
    """The code without @-blocks, and the methods that its implementations define, each with its class."""
    if "@" not in code:
        return code, []
    methods: list[tuple[str, Method]] = []
    pieces: list[str] = []
    position = 0
    ends = True
    braces = brace_table(code) if "@implementation" in code else {}
    for m in _BLOCK.finditer(code):
        if m.start() < position:
            continue
        at = code.find("@end", m.end()) if ends else -1
        ends = at >= 0
        stop = at + 4 if ends and m.group(3) != ";" else m.end()
        if m.group(1) == "implementation" and m.group(3) != ";":
            methods.extend((m.group(2), method) for method in _methods(code, braces, m.end(), stop))
        pieces.append(code[position : m.start()])
        pieces.append(blank(code[m.start() : stop]))
        position = stop
    pieces.append(code[position:])
    return _FORWARD.sub(lambda m: blank(m[0]), "".join(pieces)), methods


def _methods(code: str, braces: dict[int, int], start: int, end: int) -> list[Method]:
    found = []
    at = start
    while (m := _METHOD.search(code, at, end)) is not None:
        head = m.group(1)
        selector = "".join(_SELECTOR.findall(re.sub(r"\([^()]*\)", " ", head))) or folded(head)
        brace = m.end() - 1
        closing = min(braces.get(brace, end), end)
        parameters = tuple(f"{folded(t)} {n}" for t, n in _PARAMETER.findall(head))
        found.append((selector, m.start(), m.start(1), brace, closing, parameters))
        at = closing
    return found
