# SPDX-License-Identifier: BSD-3-Clause
"""Tells what the variables hold that a call passes as arguments, on all devices alike: a lambda, or an object that can be called."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cartographer.link.index import CLASSES
from cartographer.link.names import wanted_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.link.bodies import Bodies
    from cartographer.link.index import Defined
    from cartographer.link.sites import Spot

TEXT = 100  # longer arguments are expressions
_WRAPPED = re.compile(r"(?:(?:::)?(?:\w+::)*[A-Za-z_]\w*\s*(?:<[^()]*>)?\s*[({]\s*)?(?:std::move\()?([A-Za-z_]\w*)\)?\s*[)}]?$")
_REDUCES = frozenset(("reduce", "combine", "project"))  # the methods of a functor of aten/src/ATen/native/SharedReduceOps.h


class Holding(NamedTuple):
    """What one variable holds: the class of its object, or the line of its lambda and whether the lambda is marked for a device."""

    cls: str
    line: int = 0
    marked: bool = False


class Holdings:
    """Reads what variables hold that calls pass as arguments, in the bodies of one tree."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._known: dict[tuple[int, int], tuple[Holding, ...]] = {}
        self._callable: dict[str, bool] = {}

    def of(self, spot: Spot) -> tuple[Holding, ...]:
        """What each variable among the arguments of a call holds, variables of the file included; for an object that is made and called in one
        expression, the arguments of that call.
        """
        at = (id(spot.inside), spot.order)
        known = self._known.get(at)
        if known is None:
            known = self._known[at] = tuple(self._told(spot))
        return known

    def _told(self, spot: Spot) -> Iterator[Holding]:
        arguments = spot.call.arguments or (self._bodies.called_with(spot.call, spot.inside) if spot.call.form in ("call", "construct") else ())
        names = [m[1] for a in arguments if len(a) < TEXT and (m := _WRAPPED.match(a.strip()))]
        if not names:
            return
        local = self._bodies.variables(spot.inside)
        for name in names:
            if name in local.lambdas:
                yield Holding("", *local.lambdas[name])
                continue
            cls = local.written_class(name) or self._bodies.of_file(name, spot.scope.path).rpartition(" ")[2]
            if cls and self._may_be_called(cls):
                yield Holding(cls)

    def _may_be_called(self, name: str) -> bool:
        """Whether any class that a name may mean, on whatever device, has objects that can be called."""
        known = self._callable.get(name)
        if known is None:
            index, wanted = self._bodies.index, wanted_of(name)
            classes = [d for d in index.named(wanted[-1]) if d.fact.kind in CLASSES] if wanted else []
            known = any(d.fact.kind == "alias" for d in index.named(name)) or any(is_callable(self.methods(cls)) for cls in classes)
            self._callable[name] = known
        return known

    def methods(self, cls: Defined) -> set[str]:
        """The names of a class's methods, without its constructors."""
        return {d.name for d in self._bodies.index.methods.get((cls.path, cls.segments), ())} - {cls.name}


def is_callable(methods: set[str]) -> bool:
    """Whether a class with these methods makes objects that are called for each element."""
    return "operator()" in methods or methods >= _REDUCES
