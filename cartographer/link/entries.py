# SPDX-License-Identifier: BSD-3-Clause
"""Finds the definition of the kernel that a dispatch table names: the right overload, namespace and
backend, and not the placeholder that throws when a library is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.link.index import FUNCTIONS, bare, segments
from cartographer.link.names import Scope, nearness
from cartographer.link.signatures import fit, schema_of, schema_type

if TYPE_CHECKING:
    from cartographer.link.guards import World
    from cartographer.link.index import Defined, Index
    from cartographer.link.names import Names
    from cartographer.model.operator import Operator, Registration

@dataclass(frozen=True, slots=True)
class Entry:
    """The definition of the function that a registration names, or the reason why none can be shown."""

    defined: Defined | None
    reason: str = ""
    placeholder: bool = False  # every definition is one for a build without the library


class Entries:
    """Finds the entries of registrations in one tree, for one device."""

    def __init__(self, index: Index, names: Names, world: World, device: str) -> None:
        self._index = index
        self._names = names
        self._world = world
        self._device = device
        self._found: dict[tuple[str, str, str], Entry] = {}

    def find(self, operator: Operator, registration: Registration) -> Entry:
        """The entry of one registration of an operator."""
        symbol = registration.kernel or ""
        if not symbol:
            return Entry(None, "the registration names no function")
        where = registration.place.path if registration.place is not None else ""
        key = (symbol, operator.schema if self._overloaded(symbol) else "", where)
        entry = self._found.get(key)
        if entry is None:
            entry = self._found[key] = self._look(symbol, operator, where)
        return entry

    def _overloaded(self, symbol: str) -> bool:
        return len(self._index.named(bare(symbol))) > 1

    def _look(self, symbol: str, operator: Operator, where: str) -> Entry:
        wanted = segments(symbol)
        wanted = (*wanted[:-1], bare(wanted[-1]))
        if len(wanted) > 1 and wanted[-2].startswith("structured_") and wanted[-1] not in ("impl", "meta"):
            return Entry(None, "not a kernel's name")
        if wanted[-1].startswith("structured_"):
            return self._structured(wanted)
        candidates = [d for d in self._index.named(wanted[-1]) if d.fact.kind in FUNCTIONS and d.segments == wanted]
        if where:
            candidates = self._near(wanted, where) or candidates
        else:
            candidates = [d for d in candidates if not d.hidden] or candidates or self._legacy(wanted)
            if all(self._world.allows(d.fact.guards) is False for d in candidates):
                candidates = [*self._inner(wanted), *candidates]
        return self._best(candidates, operator, where, symbol)

    def _structured(self, wanted: tuple[str, ...]) -> Entry:
        method = "meta" if "meta" in wanted[:-1] else "impl"
        own = (*wanted, method)
        bodies = self._index.structured
        found = bodies.get(own[-2:]) or bodies.get((wanted[-1].removeprefix("structured_"), method)) or []  # shape functions on the way to 1.8
        candidates = [d for d in found if self._world.allows(d.fact.guards) is not False]
        candidates.sort(key=lambda d: (d.segments != own, d.device != self._device, d.path))
        if not candidates:
            return Entry(None, f"no definition of {'::'.join(wanted)} in this tree")
        return Entry(candidates[0])

    def _inner(self, wanted: tuple[str, ...]) -> list[Defined]:
        """Definitions in one more namespace: `lazy_linalg` opens only in a build that loads the library lazily."""
        return [
            d for d in self._index.named(wanted[-1])
            if d.fact.kind in FUNCTIONS and len(d.segments) == len(wanted) + 1 and (*d.segments[:-2], d.segments[-1]) == wanted and not d.hidden
        ]  # fmt: skip

    def _legacy(self, wanted: tuple[str, ...]) -> list[Defined]:
        """`legacy::cuda::_th_mode` of releases up to 1.8 lives in at::native::legacy::cuda (aten/src/ATen/LegacyTHFunctionsCUDA.h)."""
        inner = tuple(w for w in wanted if w != "native")
        return [
            d for d in self._index.named(wanted[-1])
            if len(inner) > 1 and d.fact.kind in FUNCTIONS and d.segments[-len(inner) :] == inner and "native" in d.segments
        ]  # fmt: skip

    def _near(self, wanted: tuple[str, ...], where: str) -> list[Defined]:
        """What a hand-written registration in a file can name."""
        found = [
            d for d in self._index.named(wanted[-1])
            if d.fact.kind in FUNCTIONS and d.segments[-len(wanted) :] == wanted and (d.path == where or not d.hidden)
        ]  # fmt: skip
        if any(d.path == where for d in found):
            return [d for d in found if d.path == where]
        if not found:
            found = list(self._names.functions("::".join(wanted[-2:]), Scope(where, ("at", "native"))))
        if not found:  # reached through a `using` that the registration's file does not show
            alike = [d for d in self._index.named(wanted[-1]) if d.fact.kind in FUNCTIONS and d.segments[:2] == wanted[:2] and not d.hidden]
            inside = [d for d in alike if d.segments[: len(wanted) - 1] == wanted[:-1]]  # of the namespace that the registration stands in
            found = next((ones for ones in (inside, alike) if len({d.segments for d in ones}) == 1), [])
        return found

    def _best(self, candidates: list[Defined], operator: Operator, where: str, symbol: str) -> Entry:
        if not candidates:
            return Entry(None, f"no definition of {symbol} in this tree")
        wanted = expected_types(operator)
        ranked = []
        for order, defined in enumerate(candidates):
            allowed = self._world.allows(defined.fact.guards)
            score = max(fit(defined.fact.parameters, types) for types in wanted) if wanted else 0
            device = 0 if defined.device == self._device else (1 if not defined.device else 2)
            ranked.append(((allowed is False, score < 0, -score, allowed is None, device, -nearness(defined.path, where), order), defined, score))
        ranked.sort(key=lambda item: item[0])
        rank, best, score = ranked[0]
        if rank[0]:
            return Entry(best, "only a placeholder for a build without the library is in this tree", placeholder=True)
        fitting = [d for r, d, s in ranked if not r[0]]
        if score < 0 and len(fitting) > 1 and len({d.fact.parameters for d in fitting}) > 1:
            return Entry(None, f"{len(fitting)} overloads of {symbol} in this tree, none with the parameters of this operator")
        return Entry(best)


def expected_types(operator: Operator) -> tuple[tuple[str, ...], ...]:
    """The classes of types of a kernel's parameters, outputs last (torchgen/api/native.py) or, in old kernels, first."""
    return _expected(operator.schema)


@lru_cache(maxsize=16384)
def _expected(written: str) -> tuple[tuple[str, ...], ...]:
    schema = schema_of(written)
    if schema is None:
        return ()
    inputs = tuple(schema_type(a.type) for a in (*schema.positional, *schema.kwarg_only))
    outs = tuple(schema_type(a.type) for a in schema.out)
    return (inputs + outs, outs + inputs) if outs else (inputs,)
