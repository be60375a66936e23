# SPDX-License-Identifier: BSD-3-Clause
"""Finds the names under which host code asks for Metal kernels, as far as its text shows.

A conditional operator chooses between whole names, or their beginnings, where the kernel is asked for, in a variable, or in
a function that puts the name together: each is a request of its own, under its condition.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.link.arguments import arguments_at, member, parameter_name
from cartographer.link.bodies import LITERALS
from cartographer.link.composed import FIELD, bare, composed, is_told, unnamed
from cartographer.link.conditions import together
from cartographer.link.device import METAL_REQUESTS
from cartographer.scan.choices import choices

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cartographer.link.bodies import Bodies
    from cartographer.link.composed import Text
    from cartographer.link.conditions import Conditions
    from cartographer.link.handed import Handed
    from cartographer.link.index import Defined
    from cartographer.link.names import Names
    from cartographer.link.sites import Site, Spot

_CALL = re.compile(r"\s*((?:\w+::)*[A-Za-z_]\w*)\s*(?=\()")
_RETURN = re.compile(r"\breturn\b\s*([^;]*);")
_NAME = re.compile(r"[A-Za-z_]\w*")
_ALONE = re.compile(r"(?<![\w.>:])[A-Za-z_]\w*(?![\w(:]|\.|->)")
_MANY = 200  # texts that one body asks with: more than any has
_WHOLE = re.compile(r"[\w.:>()-]+")  # what needs no brackets around it
_Named = tuple[tuple[str, ...], "Conditions"]  # the literals of one name, and what chooses it


class Requests:
    """Reads the names that calls ask a library of Metal shaders for."""

    def __init__(self, bodies: Bodies, names: Names, handed: Handed) -> None:
        self._bodies = bodies
        self._names = names
        self._handed = handed
        self._written: dict[int, frozenset[str]] = {}

    def texts(self, spot: Spot) -> tuple[str, ...]:
        """The string literals in a request, or those with which the variables in it begin."""
        return _literals(spot.call.arguments) or _literals(t for a in spot.call.arguments for t in self._handed.initial(a, spot))

    def parts(self, site: Site, spot: Spot) -> Iterator[Site]:
        """Split a request into one for each name that its conditional operators choose between, each with its condition."""
        name = spot.call.arguments[0] if spot.call.arguments else ""
        found = self._composed(name, spot)
        for text, conditions in found if len(found) > 1 else ():
            yield site._replace(texts=(unnamed(text),), conditions=together(site.conditions, conditions), pattern=_with_names(text))
        if len(found) > 1:
            return
        chosen = self._chosen(name, spot)
        for texts, conditions in chosen:
            yield site._replace(texts=texts, conditions=together(site.conditions, conditions))
        if not chosen:
            yield site._replace(pattern=_with_names(found[0][0])) if found else site

    def _chosen(self, name: str, spot: Spot) -> list[_Named]:
        initial = [name] if _literals((name,)) else list(self._handed.initial(name, spot))
        return _sides(initial[0]) or self._given_back(initial[0], spot) if len(initial) == 1 else []

    def _composed(self, name: str, spot: Spot) -> list[Text]:
        """The names that pieces make, with the conditions that choose each; none where one is nothing but a field."""
        if spot.inside.use is not None:
            return []
        variables, calls = self._bodies.variables(spot.inside), spot.inside.whole.calls

        def look(variable: str) -> Iterable[Text]:
            settings = variables.settings(variable)
            if len(settings) < 2:  # one that declares nothing may be under a condition, and the variable begin with something else
                return [(setting.text, ()) for setting in settings if setting.declares]
            around = [next((c.conditions for c in calls if setting.holds(c.line) and c.name in setting.text), None) for setting in settings]
            return [] if None in around else [(s.text, _outside(s.text, c or ())) for s, c in zip(settings, around, strict=True)]

        found = composed(name, look, self._bodies.of(spot.inside).parameters)
        if any(text == FIELD for text, _ in found) or (len(found) > 1 and not all(is_told(text) for text, _ in found)):
            return []
        return [(text, tuple(c for c in conditions if c not in spot.conditions)) for text, conditions in found]

    def written(self, body: Defined) -> frozenset[str]:
        """All literals with which a body asks for kernels: each belongs to its own request."""
        known = self._written.get(id(body))
        if known is None:
            read = [c.arguments[0] for c in body.whole.calls if member(c.name) in METAL_REQUESTS and c.arguments]
            variables, seen = self._bodies.variables(body), {*read}
            for text in read:  # and what the variables in it are set to
                names = {n for n in _ALONE.findall(text) if n not in seen} if body.use is None and len(read) < _MANY else ()
                seen.update(names)
                read += [s.text for n in (*names, *([text] if _NAME.fullmatch(text) else ())) for s in variables.settings(n)]
            known = self._written[id(body)] = frozenset(_literals(read))
        return known

    def _given_back(self, text: str, spot: Spot) -> list[_Named]:
        """The names of which a function, called in a text, gives back one: by what it returns, or by how the variable begins that
        it returns.
        """
        match = _CALL.match(text)
        targets = self._names.functions(match[1], spot.scope) if match is not None else ()
        if match is None or len(targets) != 1:
            return []
        body = self._bodies.text(targets[0])
        returned = _RETURN.findall(body)
        if len(returned) == 1 and _NAME.fullmatch(returned[0]):
            returned = re.findall(rf"\b{returned[0]}\s*=(?!=)\s*([^;]*);", body)[:1]
        given = zip(map(parameter_name, targets[0].fact.parameters), arguments_at(text, match.end()), strict=False)
        values = {name: value if _WHOLE.fullmatch(value) else f"({value})" for name, value in given}
        found = _sides(returned[0]) if len(returned) == 1 else []
        return [(texts, tuple(_ALONE.sub(lambda m: values.get(m[0], m[0]), c) for c in conditions)) for texts, conditions in found]


def _outside(expression: str, conditions: Conditions) -> Conditions:
    """The conditions of a call in an expression without those of the expression's own conditional operators."""
    own = {bare(c.condition) for c in choices(expression, 0, len(expression))}
    return tuple(c for c in map(bare, conditions) if c not in own)


def _with_names(text: str) -> str:
    """A name of which a parameter is part; "" for another one."""
    return text if text != unnamed(text) else ""


def _literals(expressions: Iterable[str]) -> tuple[str, ...]:
    return tuple(t for e in expressions for t in LITERALS.findall(e))


def _sides(expression: str) -> list[_Named]:
    """The literals of an expression with the conditions that choose them; none unless conditions choose every one of them."""
    if "?" not in expression:
        return []
    chosen = choices(expression, 0, len(expression))
    found: dict[Conditions, list[str]] = {}
    for match in LITERALS.finditer(expression):
        found.setdefault(tuple(bare(c.condition) for c in chosen if c.begin <= match.start() < c.end), []).append(match[1])
    if () in found or any(not "".join(texts) for texts in found.values()):
        return []
    return [(tuple(texts), conditions) for conditions, texts in found.items()]
