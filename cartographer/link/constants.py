# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates conditions that the build settles: those on macros, and on `const bool` variables whose value is written at their declaration."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from cartographer.link.conditions import on_device, value
from cartographer.link.usual import Usual
from cartographer.scan.preprocess import prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.link.bodies import Bodies
    from cartographer.link.conditions import Conditions
    from cartographer.link.guards import World
    from cartographer.link.index import Defined
    from cartographer.link.names import Names

_MAY_DECLARE = re.compile(r"bool\s+[A-Za-z_]\w*\s*[={]\s*(?:true|false)\b")  # begins with a word, as a pattern that is quickly found
_DECLARED = re.compile(r"\bconst(?:expr)?\s+(?:static\s+|inline\s+)*bool\s+([A-Za-z_]\w*)\s*(?:=\s*|\{\s*)(true|false)\s*\}?\s*;")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_LAST = 10**9  # a line beyond all files
_MACRO = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+(?:\(\))?")
_LACKING, _UNCHOSEN = 1.0, 2.0  # what a way costs more that needs a build without something, or with what the tree does not choose


class Boolean(NamedTuple):
    """A `const bool` variable with its value, and the `#if` conditions around its declaration."""

    name: str
    line: int
    value: bool
    guards: tuple[str, ...]


class Left(NamedTuple):
    """The conditions that the build leaves undecided, and what they cost."""

    conditions: Conditions
    without: float  # what it costs more that the build has to lack a feature, or that most people's calls answer otherwise
    unusual: bool  # whether most people's calls answer otherwise


class Constants:
    """The values that macros and constants have in the build for one device."""

    def __init__(self, bodies: Bodies, names: Names, world: World) -> None:
        self._bodies = bodies
        self._world = world
        self.usual = Usual(bodies, names, world)
        self._outside: dict[tuple[str, str], bool | None] = {}

    def left(self, conditions: Conditions, guards: Conditions, inside: Defined) -> Left | None:
        """The conditions that the build leaves undecided, and what they cost; None when they cannot all hold."""
        allowed = self._world.allows(guards)
        if allowed is False:
            return None
        usual = self._world.usual
        told = [c for c in conditions if (usual.allows((c,)) is not True if c in guards else not on_device(c, self._world.device))]
        held = [self.holds(c, inside) if c not in guards else None for c in told]
        if False in held:
            return None
        without = max((self._lack(g) for g in guards), default=0.0) if allowed is None else 0.0
        left = tuple(c for c, holds in zip(told, held, strict=True) if holds is None)
        cost, unusual = self.usual.cost(left, inside) if left else (0.0, False)
        return Left(left, without + cost, unusual)

    def _lack(self, guard: str) -> float:
        """What a way costs more that the build has only without a feature, or where the tree would choose otherwise."""
        known = self._world.usual.allows((guard,))
        return _UNCHOSEN if known is False else _LACKING if known is None and guard.startswith("!") else 0.0

    def holds(self, condition: str, inside: Defined) -> bool | None:
        """Whether the build makes a condition in a function true or false; None when it decides neither."""
        known = {term: holds for term in _plain_terms(condition) if (holds := self._of_term(term, inside)) is not None}
        return value(condition, lambda term: known.get(term.strip())) if known else None

    def _of_term(self, term: str, inside: Defined) -> bool | None:
        if _MACRO.fullmatch(term):
            return self._world.evaluate(term)
        if inside.use is not None or term in self._bodies.of(inside).parameters:
            return None
        local = [b for b in self._booleans(inside.path) if b.name == term and inside.fact.start <= b.line <= inside.fact.end]
        return self._agreed(local) if local else self._of_file(term, inside.path)

    def _of_file(self, name: str, path: str) -> bool | None:
        """The value of a variable outside all functions, of the file or of a header that it includes."""
        known = (name, path)
        if known not in self._outside:
            index = self._bodies.index
            places = {(d.path, d.line) for d in index.named(name) if d.fact.kind == "variable"}
            seen = {p for p, _ in places if p == path or p in index.hierarchy.visible(path)}
            self._outside[known] = self._agreed([b for p in sorted(seen) for b in self._booleans(p) if b.name == name and (p, b.line) in places])
        return self._outside[known]

    def _agreed(self, declared: list[Boolean]) -> bool | None:
        """The value that all declarations give which the build has; None when it cannot be told which these are."""
        allowed = [(b.value, self._world.allows(b.guards)) for b in declared]
        values = {told for told, known in allowed if known is not False}
        return values.pop() if len(values) == 1 and all(known is not None for _, known in allowed) else None

    def _booleans(self, path: str) -> list[Boolean]:
        """The variables of a file that are declared with their value."""
        known = self._bodies.booleans.get(path)
        if known is None:
            text = "\n".join(self._bodies.lines(path, 1, _LAST))
            known = self._bodies.booleans[path] = list(_booleans_of(text)) if _MAY_DECLARE.search(text) and _DECLARED.search(text) else []
        return known


@lru_cache(maxsize=65536)
def _plain_terms(condition: str) -> tuple[str, ...]:
    """The terms of a condition that are no more than a name, as variables and macros are."""
    found: list[str] = []
    value(condition, lambda term: found.append(term.strip()))
    return tuple(term for term in found if _IDENTIFIER.fullmatch(term) or _MACRO.fullmatch(term))


def _booleans_of(text: str) -> Iterator[Boolean]:
    source = prepare(text.encode())
    for match in _DECLARED.finditer(source.plain):
        yield Boolean(match[1], source.line(match.start(1)), match[2] == "true", source.guards(match.start()))
