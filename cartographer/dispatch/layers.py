# SPDX-License-Identifier: BSD-3-Clause
"""Finds the layers that a call passes on its way to a backend: the functionality keys of DispatchKey.h from the outermost
in, and which of them act on an operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.dispatch.table import MISSING, NOT_TOLD
from cartographer.model.operator import Layer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cartographer.dispatch.table import Tables
    from cartographer.model.dispatch import KeyRules
    from cartographer.model.location import Location
    from cartographer.model.operator import Registration

FALLBACK = "backend fallback"  # how the words end for what a fallback serves


class Layers:
    """Computes the layers of operators; a layer that serves several operators in the same way is one shared value."""

    def __init__(self, rules: KeyRules, tables: Tables) -> None:
        self._rules, self._tables = rules, tables
        self._above = [(f, _representative(rules, f)) for f in reversed(rules.functionality) if not rules.is_backend(f)]
        self._shared: dict[tuple[str, str], tuple[Layer, tuple[str, ...]]] = {}

    def of(self, dispatch: Mapping[str, str], registrations: Sequence[Registration]) -> tuple[Layer, ...]:
        """The layers above the backends for one operator, outermost first: a layer acts when its entry is neither a fallthrough nor missing."""
        by_key = {r.key: r for r in registrations if r.active}
        found = []
        for functionality, key in self._above:
            outcome = dispatch.get(key, "")
            if not outcome:
                continue
            shared = self._shared.get((functionality, outcome))
            if shared is None:
                shared = self._shared[functionality, outcome] = self._layer(functionality, key, outcome), self._sources(key, outcome)
            layer, sources = shared
            place = _first_place(sources, by_key) if sources else None
            found.append(layer if place is None else Layer(functionality, layer.acts, outcome, place))
        return tuple(found)

    def _layer(self, functionality: str, key: str, outcome: str) -> Layer:
        """A layer that no registration of an operator's own serves."""
        acts = outcome not in (MISSING, NOT_TOLD) and not outcome.startswith("fallthrough")
        fallback = self._tables.fallback(key) if outcome.endswith(FALLBACK) else None
        return Layer(functionality, acts, outcome, fallback.place if fallback is not None else None)

    def _sources(self, key: str, outcome: str) -> tuple[str, ...]:
        """The keys of registrations of an operator's own that may serve a layer, the first one first."""
        if outcome == MISSING or outcome.endswith(FALLBACK):
            return ()
        return tuple(key if look.source == "direct" else look.source for look in self._rules.looks if outcome.endswith(look.words))


def _first_place(sources: Sequence[str], by_key: Mapping[str, Registration]) -> Location | None:
    """Where the registration stands that serves a layer."""
    for source in sources:
        if source in by_key:
            return by_key[source].place
    return None


def _representative(rules: KeyRules, functionality: str) -> str:
    """The runtime key that shows what a layer does: that of the CPU where there is one a backend."""
    prefix = rules.per_backend.get(functionality)
    return functionality if prefix is None else f"{prefix}CPU"
