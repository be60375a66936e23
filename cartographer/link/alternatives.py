# SPDX-License-Identifier: BSD-3-Clause
"""Shortens conditions that consist of alternatives: `a || !(a) && b` becomes `a || b`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MORE = "…"  # the alternatives for which there was no room
_MANY = 16  # alternatives that are compared
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
    sides = _fewest(sides)
    if not all(sides) or not all(_fewest(_spread(sides, bare))):
        return ""
    return " || ".join(" && ".join(text if said[1] or text[0] != "!" else said[0] for said, text in side.items()) for side in (*sides, *more[:1]))


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


def _fewest(sides: _Sides) -> _Sides:
    """The alternatives without what the others imply; one without terms always holds."""
    before = None
    while before != sides and all(sides):
        before = sides
        sides = _absorbed(_shortened(sides))
    return sides


def _spread(sides: _Sides, bare: Callable[[str], _Term]) -> _Sides:
    """The alternatives with those inside brackets as their own: `a && (b || c)` as `a && b` and `a && c`; as they are where that makes too many."""
    found: _Sides = []
    for side in sides:
        made: _Sides = [{}]
        for (said, denied), text in side.items():
            inner = split(text[1:-1], "||") if text[0] == "(" and not denied and split(text, "||") == [text] else []
            terms = [{bare(t): t for t in split(part, "&&")} for part in inner if part != _MORE] if len(inner) > 1 else [{(said, denied): text}]
            made = [{**one, **other} for one in made for other in terms]
            if len(found) + len(made) > _MANY:
                return sides
        found += made
    return found


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
