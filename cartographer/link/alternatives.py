# SPDX-License-Identifier: BSD-3-Clause
"""Shortens conditions that consist of alternatives: `a || !(a) && b` becomes `a || b`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MORE = "…"  # the alternatives for which there was no room
_STEP = re.compile(r"""["'(\[{)\]}]|\|\||&&""")
_Term = tuple[str, bool]  # what is said, and whether it is denied
_Sides = list[dict[_Term, str]]  # each alternative's terms, with their texts


def simplified(condition: str, bare: Callable[[str], _Term]) -> str:
    """A condition without alternatives that the others imply; "" when it always holds. `bare` gives a term without its negations."""
    if " || " not in condition:
        return condition
    sides: _Sides = [{bare(term): term for term in split(side, "&&")} for side in split(condition, "||")]
    more = [side for side in sides if list(side.values()) == [_MORE]]
    sides = [side for side in sides if side not in more]
    before = None
    while before != sides and all(sides):
        before = sides
        sides = _absorbed(_shortened(sides))
    return " || ".join(" && ".join(side.values()) for side in (*sides, *more[:1])) if all(sides) else ""


def split(text: str, sign: str) -> list[str]:
    """The parts of a text between the places of a sign (`||`, `&&`) that stand in no brackets or strings, without the space around them."""
    if sign not in text:
        return [text]
    parts, depth, start, quote = [], 0, 0, ""
    for match in _STEP.finditer(text):
        found = match[0]
        if quote or found in "\"'":
            quote = "" if quote == found else quote or found
        elif found in "([{":
            depth += 1
        elif found in ")]}":
            depth -= 1
        elif found == sign and depth == 0:
            parts.append(text[start : match.start()].strip())
            start = match.end()
    return [*parts, text[start:].strip()]


def _shortened(sides: _Sides) -> _Sides:
    """Without terms that another alternative makes idle: `!(a)` beside `a`, and both beside the same rest."""
    found: _Sides = []
    for side in sides:
        idle = {term for term in side for other in sides if other is not side and _makes_idle(other, side, term)}
        found.append({term: text for term, text in side.items() if term not in idle} if len(idle) < 2 else _without_first(side, idle))
    return found


def _makes_idle(other: dict[_Term, str], side: dict[_Term, str], term: _Term) -> bool:
    """Whether another alternative holds where a term does not, but for what the rest of this one says already."""
    opposite = (term[0], not term[1])
    return opposite in other and all(t == opposite or (t in side and t != term) for t in other)


def _without_first(side: dict[_Term, str], idle: set[_Term]) -> dict[_Term, str]:
    """One term at a time: each may be idle only while the others stand."""
    first = next(term for term in side if term in idle)
    return {term: text for term, text in side.items() if term != first}


def _absorbed(sides: _Sides) -> _Sides:
    """Without alternatives that say no more than another, shorter one."""
    found: _Sides = []
    for number, side in enumerate(sides):
        others = (other for place, other in enumerate(sides) if place != number and (len(other) < len(side) or (len(other) == len(side) and place < number)))
        if not any(all(term in side for term in other) for other in others):
            found.append(side)
    return found
