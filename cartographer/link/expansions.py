# SPDX-License-Identifier: BSD-3-Clause
"""What a macro does where a body uses it: the sites in its expansion, macros inside it included."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.link.arguments import arguments_at, has_word
from cartographer.link.bodies import LITERALS
from cartographer.link.device import CPU_LOOPS, library
from cartographer.link.index import bare
from cartographer.link.names import nearness
from cartographer.link.overloads import by_type
from cartographer.link.sites import Given
from cartographer.model.location import Language
from cartographer.scan.cpp import scan_cpp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cartographer.link.bodies import Bodies
    from cartographer.link.conditions import Conditions
    from cartographer.link.guards import World
    from cartographer.link.handed import Handed
    from cartographer.link.names import Names
    from cartographer.link.sites import Site, Spot
    from cartographer.link.stubs import Stubs
    from cartographer.model.fact import MacroDefinition

_LAUNCH = re.compile(r"\b((?:\w+::)*[A-Za-z_]\w*)\s*(?:<[^<>;{}]*(?:<[^<>;{}]*>[^<>;{}]*)*>)?\s*<<<")
_BRANCHES = re.compile(r"\b(?:if|else|case|default)\b")
_CALLED = re.compile(r"\b((?:\w+::)*[A-Za-z_]\w*)\s*(?:<[^<>;(){}]*>)?\s*\(")


@dataclass
class Expansions:
    """Reads macros for one device; `ours` tells whether the tree itself defines a name."""

    bodies: Bodies
    names: Names
    stubs: Stubs
    handed: Handed
    world: World
    device: str
    ours: Callable[[str], bool]

    def sites(self, macro: str, arguments: tuple[str, ...], spot: Spot, depth: int = 0) -> Iterator[Site]:
        """What a macro of the same file, or of a header of kernels, does with these arguments, macros inside it included.
        What stands in a header's macro is placed where it is used.
        """
        found = self._in_force(macro, spot)
        if found is None or depth > 3:
            return
        path, written = found
        text, calls = _expanded(written.body, written.parameters, arguments)
        within = _conditions_in(text) if _BRANCHES.search(text) else {}
        launched = set()
        for match in _LAUNCH.finditer(text) if "<<<" in text else ():
            launched.add(match[1])
            below = text.count("\n", 0, match.start())
            inner = spot.under(within.get((match[1], below), ()))
            yield self._placed(inner.site("launch", match[1], self.handed.kernels(match[1], spot)), found, spot, below)
        for name, below, end in calls:
            inner = spot.under(within.get((name, below), ()))
            if bare(name) in self.stubs:
                yield self._placed(inner.site("stub", bare(name), stub=self.stubs.find(name, spot.scope.namespace)), found, spot, below)
            elif (title := library(name, self.device)) and not self.ours(name):
                yield self._placed(inner.site("library", name, library=title), found, spot, below)
            elif self.device == "cpu" and bare(name) in CPU_LOOPS:
                opening = text.find("[", end)
                given = (Given("lambda", path, written.line + text.count("\n", 0, opening)),) if opening >= 0 else ()
                yield self._placed(inner.site("loop", bare(name), given=given), found, spot, below)
            elif name.isupper():
                yield from self.sites(name, arguments_at(text, end - 1), inner, depth + 1)
            elif len(name) > 3 and name not in launched:
                targets = tuple(d for d in self.names.functions(name, spot.scope) if self.bodies.follows(d))
                if targets:
                    yield self._placed(inner.site("helper", name, tuple(sorted(targets, key=by_type)[:4])), found, spot, below)

    def _in_force(self, macro: str, spot: Spot) -> tuple[str, MacroDefinition] | None:
        """The macro that a use means in the build for our device, with its file: the last one in the file, else the nearest."""
        path = spot.inside.path
        known = [(p, m) for p, m in self.bodies.macros(macro, path, spot.call.line) if self.world.allows(m.guards) is not False]
        return max(reversed(known), key=lambda pair: nearness(pair[0], path), default=None)

    def _placed(self, site: Site, found: tuple[str, MacroDefinition], spot: Spot, below: int) -> Site:
        """A site of a macro's expansion on the line that holds its name, `below` the macro's first one; on that of the use when
        an argument brings it or the macro is a header's.
        """
        path, macro = found
        name = bare(site.name)
        if has_word(macro.body, name):
            return site._replace(line=macro.line + below) if path == site.path else site._replace(made=macro.name)
        first, last = spot.call.line, max(spot.call.line, spot.call.end_line)
        lines = enumerate(self.bodies.lines(site.path, first, last), first)
        return site._replace(line=next((n for n, text in lines if has_word(text, name)), first))


@lru_cache(maxsize=4096)
def _conditions_in(text: str) -> dict[tuple[str, int], Conditions]:
    """The conditions around the calls in a macro's expansion, by name and by the number of line ends before it."""
    bodies = scan_cpp(f"void f() {{ {text}\n}}".encode(), Language.CUDA).definitions
    return {(call.name, call.line - 1): call.conditions for body in bodies for call in body.calls if call.conditions}


@lru_cache(maxsize=4096)
def _expanded(body: str, parameters: tuple[str, ...] | None, arguments: tuple[str, ...]) -> tuple[str, tuple[tuple[str, int, int], ...]]:
    """A macro's body with its arguments put in, and the calls in it: each with the number of line ends before its name, and with the
    place behind its parenthesis.
    """
    text = _substituted(body, parameters, arguments)
    found = _CALLED.finditer(LITERALS.sub(_blanked, text))
    return text, tuple((m[1], text.count("\n", 0, m.start(1)), m.end()) for m in found)


def _substituted(body: str, parameters: tuple[str, ...] | None, arguments: tuple[str, ...]) -> str:
    """A macro's body with its arguments put in; lines stay where they are."""
    named = dict(zip(parameters or (), (" ".join(a.split()) for a in arguments), strict=False))
    if not named:
        return body
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, named)) + r")\b")
    return re.sub(r"\s*##\s*", "", pattern.sub(lambda m: named[m[1]], body))


def _blanked(match: re.Match[str]) -> str:
    """White space in the place of a string, its line ends kept."""
    return re.sub(r"[^\n]", " ", match[0])
