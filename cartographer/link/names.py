# SPDX-License-Identifier: BSD-3-Clause
"""Which definitions a name means, at the place where it is written: C++ look-up as far as it can be told without types.

A qualified name is tried from the enclosing namespaces outwards ([basic.lookup.unqual]); static and anonymous
functions of other files are out; among what is left, the conditions of the build, the device, the number of
arguments and nearness decide, in this order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.link.index import CLASSES, FUNCTIONS, bare, is_source, segments
from cartographer.link.signatures import bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.link.guards import World
    from cartographer.link.index import Defined, Index

# Which files may serve code of a device: its own, and shared ones.
_SERVES = {"": frozenset(("",)), "hip": frozenset(("", "hip", "cuda"))}


def serves(device: str, file_device: str) -> bool:
    """Whether code in a file of `file_device` can run on the way to `device`."""
    return file_device in _SERVES.get(device, ("", device))


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a name is written."""

    path: str
    namespace: tuple[str, ...]
    device: str


def scope_of(defined: Defined, device: str) -> Scope:
    """The scope inside a definition, when it runs for a device."""
    return Scope(defined.path, defined.segments[:-1], device)


class Names:
    """Look-up in one tree; answers are kept."""

    def __init__(self, index: Index, world: World) -> None:
        self._index = index
        self._world = world
        self._answers: dict[tuple[str, Scope, int | None, frozenset[str]], tuple[Defined, ...]] = {}

    def functions(self, name: str, scope: Scope, arguments: int | None = None) -> tuple[Defined, ...]:
        """The functions that a call by this name can mean, best first; all of the first rank."""
        return self._look_up(name, scope, arguments, FUNCTIONS)

    def classes(self, name: str, scope: Scope) -> tuple[Defined, ...]:
        """The classes that this name can mean."""
        return self._look_up(name, scope, None, CLASSES)

    def _look_up(self, name: str, scope: Scope, arguments: int | None, kinds: frozenset[str]) -> tuple[Defined, ...]:
        key = (name, scope, arguments, kinds)
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._ranked(name, scope, arguments, kinds)
        return answer

    def _ranked(self, name: str, scope: Scope, arguments: int | None, kinds: frozenset[str]) -> tuple[Defined, ...]:
        wanted = segments(name)
        if not wanted:
            return ()
        wanted = (*wanted[:-1], bare(wanted[-1]))
        best: list[tuple[tuple[object, ...], int, Defined]] = []
        for order, defined in enumerate(self._index.named(wanted[-1])):
            if defined.fact.kind not in kinds or (defined.hidden and defined.path != scope.path):
                continue
            if not serves(scope.device, defined.device) and defined.path != scope.path:
                continue
            depth = namespace_rank(defined.segments, wanted, scope.namespace)
            if depth is None:
                continue
            allowed = self._world.allows(defined.fact.guards)
            if allowed is False:
                continue
            counted = 0 if arguments is None or self.takes(defined, arguments) else 1
            rank = (counted, depth, defined.path != scope.path, defined.device != scope.device, -nearness(defined.path, scope.path))
            best.append((rank, order, defined))
        best.sort(key=lambda item: item[:2])
        if not best or (best[0][0][0] == 1 and arguments is not None and kinds is FUNCTIONS and not self._loose(best[0][2])):
            return ()
        first = best[0][0]
        return tuple(defined for rank, _, defined in best if rank == first)

    def takes(self, defined: Defined, arguments: int) -> bool:
        """Whether a call with so many arguments can enter a function; default arguments may stand in its declaration alone."""
        if defined.bounds is None:
            low, high = bounds(defined.fact)
            for declared in self._index.declarations.get(defined.name, ()):
                if len(declared.fact.parameters) == len(defined.fact.parameters):
                    low = min(low, bounds(declared.fact)[0])
            defined.bounds = (low, high)
        return defined.bounds[0] <= arguments <= defined.bounds[1]

    @staticmethod
    def _loose(defined: Defined) -> bool:
        """Whether the parameter list is not to be trusted: a body that a macro heads."""
        return defined.fact.kind == "macro-headed"


@lru_cache(maxsize=65536)
def namespace_rank(own: tuple[str, ...], wanted: tuple[str, ...], scope: tuple[str, ...]) -> int | None:
    """How far out from `scope` the name `wanted` meets a definition called `own`; None if it cannot.
    Qualified names may also be reached through `using`, which costs more than any nesting.
    """
    for up in range(len(scope) + 1):
        prefix = scope[: len(scope) - up]
        if own == (*prefix, *wanted):
            return up
    if own[-len(wanted) :] == wanted:
        shared = 0
        for mine, theirs in zip(own, scope, strict=False):
            if mine != theirs:
                break
            shared += 1
        return 20 + max(0, len(own) - len(wanted) - shared)
    return None


def nearness(one: str, other: str) -> int:
    """How near two files are: shared folders, and the same stem."""
    a, b = one.split("/"), other.split("/")
    shared = 0
    for x, y in zip(a[:-1], b[:-1], strict=False):
        if x != y:
            break
        shared += 1
    stem = a[-1].split(".")[0] == b[-1].split(".")[0]
    return 2 * shared + stem


def visible(defined: Sequence[Defined], path: str) -> tuple[Defined, ...]:
    """Those that a place in `path` can name."""
    return tuple(d for d in defined if d.path == path or not (d.hidden and is_source(d.path)))
