# SPDX-License-Identifier: BSD-3-Clause
"""The conditional operator in a body: `is_batched ? input : input.unsqueeze(0)` calls `unsqueeze` where it is not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cartographer.scan.conditions import negated
from cartographer.scan.uses import cut

if TYPE_CHECKING:
    from collections.abc import Iterator

_FORWARD = re.compile(r"[(\[{]|[)\]}]|[;,?]|(?<!:):(?!:)")
_FARTHEST = 4000  # characters of one expression
_MOST = 500  # question marks of one body: more than any has


class Choice(NamedTuple):
    """One side: where it begins and ends, and what holds in it."""

    begin: int
    end: int
    condition: str


def choices(code: str, start: int, end: int) -> list[Choice]:
    """The sides between two offsets, an outer one before those inside it."""
    found: list[Choice] = []
    at, read = code.find("?", start, end), 0
    while at >= 0 and read < _MOST:
        found.extend(_sides(code, at, max(start, at - _FARTHEST), min(end, at + _FARTHEST)))
        at, read = code.find("?", at + 1, end), read + 1
    return found


def _sides(code: str, mark: int, first: int, last: int) -> Iterator[Choice]:
    condition = " ".join(code[_begin(code, mark, first) : mark].split())
    middle = _end(code, mark, last, ":")
    if condition and middle >= 0:
        yield Choice(mark, middle, cut(condition))
        yield Choice(middle, _end(code, middle, last, ""), negated(cut(condition)))


def _end(code: str, at: int, last: int, sign: str) -> int:
    """Where one side ends: at the colon of this very question mark (-1 when there is none), or with the expression."""
    depth = inner = 0
    for match in _FORWARD.finditer(code, at + 1, last):
        char = match[0]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif depth == 0 and char == "?":
            inner += 1
        elif depth == 0 and char == ":":
            if inner == 0 and sign:
                return match.start()
            inner -= 1
        elif depth == 0:
            depth = -1
        if depth < 0:
            return -1 if sign else match.start()
    return -1 if sign else last


def _begin(code: str, mark: int, first: int) -> int:
    """Where the expression before a question mark begins."""
    depth = 0
    for at in range(mark - 1, first - 1, -1):
        char = code[at]
        if char in ")]}":
            depth += 1
        elif char in "([{":
            depth -= 1
            if depth < 0:
                return at + 1
        elif depth:
            continue
        elif char in ";,?" or (char == ":" and code[at - 1] != ":" and code[at + 1] != ":") or (char == "=" and _sets(code, at)) or (char == "n" and code[at + 1] in " \n(" and code.startswith("return", at - 5)):
            return at + 1
    return first


def _sets(code: str, at: int) -> bool:
    """Whether an equals sign sets a variable."""
    return code[at - 1] not in "=!<>" and code[at + 1] != "="
