# SPDX-License-Identifier: BSD-3-Clause
"""Resolves a name to the definitions that it can mean where it is written: C++ look-up as far as it can be told without types.

A qualified name is tried from the enclosing namespaces outwards ([basic.lookup.unqual]); static and anonymous
functions of other files are out; among what is left, the conditions of the build, the device, the number of
arguments and nearness decide, in this order.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from cartographer.link.index import CLASSES, FUNCTIONS, bare, is_source, segments
from cartographer.link.signatures import bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.link.guards import World
    from cartographer.link.index import Defined, Index

# Which files may serve code of a device: its own, and shared ones.
_SERVES = {"": frozenset(("",)), "hip": frozenset(("", "hip", "cuda"))}


def serves(device: str, file_device: str) -> bool:
    """Whether code in a file for `file_device` can run on the way to `device`."""
    return file_device in _SERVES.get(device, ("", device))


# By qualified name: the place among all definitions of the name, the definition, and whether other files can enter it.
_Candidates = dict[tuple[str, ...], "list[tuple[int, Defined, bool]]"]
_Ranked = tuple[tuple[int, int, bool, bool], int, "Defined"]


class Scope(NamedTuple):
    """The file and the namespaces in which a name is written."""

    path: str
    namespace: tuple[str, ...]


def scope_of(defined: Defined) -> Scope:
    """The scope of names that are written inside a definition."""
    return Scope(defined.path, defined.segments[:-1])


class Names:
    """Looks up names in one tree for code that runs on one device; answers are kept."""

    def __init__(self, index: Index, world: World) -> None:
        self._index = index
        self._world = world
        self._device = world.device
        self._answers: dict[tuple[str, Scope, int | None, frozenset[str]], tuple[Defined, ...]] = {}
        self._known: dict[tuple[str, frozenset[str]], _Candidates] = {}

    def functions(self, name: str, scope: Scope, arguments: int | None = None) -> tuple[Defined, ...]:
        """The functions that a call by this name can mean: those of the best rank, in the order of paths."""
        return self._look_up(name, scope, arguments, FUNCTIONS)

    def classes(self, name: str, scope: Scope) -> tuple[Defined, ...]:
        """The classes that this name can mean, or those that it stands for in its file: `using tanf_cell_type = SimpleCell<…>;`."""
        found = self._look_up(name, scope, None, CLASSES)
        if found or "::" in name:
            return found
        alias = next((d for d in self._index.named(name) if d.fact.kind == "alias" and d.path == scope.path), None)
        meant = alias.fact.returns.partition("<")[0].strip() if alias is not None else ""
        return self._look_up(meant, scope, None, CLASSES) if meant and meant != name else ()

    def _look_up(self, name: str, scope: Scope, arguments: int | None, kinds: frozenset[str]) -> tuple[Defined, ...]:
        key = (name, scope, arguments, kinds)
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._ranked(name, scope, arguments, kinds)
        return answer

    def _ranked(self, name: str, scope: Scope, arguments: int | None, kinds: frozenset[str]) -> tuple[Defined, ...]:
        wanted = wanted_of(name)
        if not wanted:
            return ()
        ranked: list[_Ranked] = []
        closed: list[_Ranked] = []
        for own, candidates in self._candidates(wanted[-1], kinds).items():
            depth = namespace_rank(own, wanted, scope.namespace)
            if depth is None:
                continue
            for order, defined, open_ in candidates:
                elsewhere = defined.path != scope.path
                if open_ or not elsewhere or not is_source(scope.path):
                    counted = 0 if arguments is None or self.takes(defined, arguments) else 1
                    (ranked if open_ or not elsewhere else closed).append(((counted, depth, elsewhere, defined.device != self._device), order, defined))
        ranked = self._around(scope.path, ranked, closed) or ranked
        if not ranked:
            return ()
        first = ranked[0][0] if len(ranked) == 1 else min(rank for rank, _, _ in ranked)
        best = [defined for _, defined in sorted((order, defined) for rank, order, defined in ranked if rank == first)]
        if len(best) > 1:
            near = [nearness(defined.path, scope.path) for defined in best]
            best = [defined for defined, how in zip(best, near, strict=True) if how == max(near)]
        misfits = first[0] == 1 and arguments is not None and kinds is FUNCTIONS
        return () if misfits and not self._loose(best[0]) else tuple(best)

    def _around(self, header: str, ranked: list[_Ranked], closed: list[_Ranked]) -> list[_Ranked]:
        """What a header can only mean by a name that no file it includes has: what stands before it in the file that includes it."""
        fitting = [one for one in (*ranked, *closed) if one[0][0] == 0]
        if is_source(header) or (len(fitting) < 2 and not closed):
            return []
        seen = self._index.hierarchy.visible(header)
        into = () if any(defined.path in seen for _, _, defined in ranked) else self._index.hierarchy.includers.get(header, ())
        return [one for one in fitting if one[2].path in into]

    def _candidates(self, name: str, kinds: frozenset[str]) -> _Candidates:
        """The definitions of a name that the build for our device has."""
        known = self._known.get((name, kinds))
        if known is None:
            known = self._known[name, kinds] = {}
            for order, defined in enumerate(self._index.named(name)):
                if defined.fact.kind in kinds and self.has(defined):
                    open_ = serves(self._device, defined.device) and not defined.hidden
                    known.setdefault(defined.segments, []).append((order, defined, open_))
        return known

    def has(self, defined: Defined) -> bool:
        """Whether the build for this device contains a definition, as far as can be told."""
        return self._world.allows(defined.fact.guards) is not False

    def takes(self, defined: Defined, arguments: int) -> bool:
        """Whether a function can be called with this number of arguments; its default arguments may be in a declaration elsewhere."""
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
def wanted_of(name: str) -> tuple[str, ...]:
    """The namespaces that a name is written with, and the name itself, without template arguments."""
    found = segments(name)
    return (*found[:-1], bare(found[-1])) if found else ()


def namespace_rank(own: tuple[str, ...], wanted: tuple[str, ...], scope: tuple[str, ...]) -> int | None:
    """How many namespaces out from `scope` the name `wanted` reaches a definition called `own`; None when it cannot.
    Qualified names may also be reached through `using`, which counts for more than any nesting.
    """
    around = len(own) - len(wanted)
    if around < 0 or own[around:] != wanted:
        return None
    if own[:around] == scope[:around]:
        return len(scope) - around
    shared = 0
    for mine, theirs in zip(own, scope, strict=False):
        if mine != theirs:
            break
        shared += 1
    return 20 + max(0, around - shared)


def nearness(one: str, other: str) -> int:
    """How near two files are to each other, the higher the nearer: by the folders that they share, then by equal file stems."""
    (a, stem), (b, other_stem) = _parts(one), _parts(other)
    shared = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        shared += 1
    return 2 * shared + (stem == other_stem)


@lru_cache(maxsize=65536)
def _parts(path: str) -> tuple[list[str], str]:
    """The folders of a path, and its file's name up to the first dot."""
    *folders, name = path.split("/")
    return folders, name.partition(".")[0]


def visible(defined: Sequence[Defined], path: str) -> tuple[Defined, ...]:
    """The definitions that code in the file `path` can name."""
    return tuple(d for d in defined if d.path == path or not (d.hidden and is_source(d.path)))
