# SPDX-License-Identifier: BSD-3-Clause
r"""Compiles regular expressions with possessive groups so that every supported Python understands them.

Python 3.11.0 to 3.11.4 read `(?:ab?c)++` wrongly: a repetition that fails half-way leaves what it had begun in the match
(https://github.com/python/cpython/issues/106052). An atomic group means the same, `(?>(?:ab?c)+)`, and is right everywhere; it is only
slower. Single characters and classes (`\s*+`) are right as they are.
"""

from __future__ import annotations

import re
from typing import AnyStr

BROKEN = re.match("(?:ab?c)++", "aca").end() != 2  # type: ignore[union-attr]
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?#[^)]*\))?|\)(?:[*+?]|\{\d*,?\d*\})?\+?|#[^\n]*|[^\\\[()#]+", re.DOTALL)


def possessive(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A compiled pattern, whose repeated groups may be possessive. Raises re.error like `re.compile`."""
    if not BROKEN:
        return re.compile(pattern, flags)
    if isinstance(pattern, bytes):
        return re.compile(atomic(pattern.decode("latin-1"), verbose=bool(flags & re.VERBOSE)).encode("latin-1"), flags)
    return re.compile(atomic(pattern, verbose=bool(flags & re.VERBOSE)), flags)


def atomic(pattern: str, *, verbose: bool = False) -> str:
    """The same pattern with an atomic group around each group that is repeated possessively. Groups keep their numbers."""
    pieces: list[str] = []
    opened: list[int] = []  # where the groups that are open begin in the pieces
    at = 0
    while at < len(pattern):
        piece = _PIECE.match(pattern, at)
        assert piece is not None
        text, at = piece[0], piece.end()
        if text.startswith("#") and not verbose:
            text, at = "#", piece.start() + 1
        if text == "(":
            opened.append(len(pieces))
        elif text.startswith(")"):
            first = opened.pop()
            if len(text) > 2 and text.endswith("+"):
                pieces[first] = "(?>" + pieces[first]
                text = text[:-1] + ")"
        pieces.append(text)
    return "".join(pieces)
