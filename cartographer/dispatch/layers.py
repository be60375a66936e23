# SPDX-License-Identifier: BSD-3-Clause
"""The layers that a call passes on its way to a backend: the functionality keys of DispatchKey.h from the outermost
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
    """The layers of operators; what no registration of an operator's own serves is one and the same layer for all."""

    def __init__(self, rules: KeyRules, tables: Tables) -> None:
        self._rules, self._tables = rules, tables
        self._above = [(f, _representative(rules, f)) for f in reversed(rules.functionality) if not rules.is_backend(f)]
        self._shared: dict[tuple[str, str], Layer] = {}

    def of(self, dispatch: Mapping[str, str], registrations: Sequence[Registration]) -> tuple[Layer, ...]:
        """Every layer above the backends, outermost first: it acts when its entry is neither a fallthrough nor missing."""
        by_key = {r.key: r for r in registrations if r.active}
        told = ((functionality, key, dispatch.get(key, "")) for functionality, key in self._above)
        return tuple(self._layer(functionality, key, outcome, by_key) for functionality, key, outcome in told if outcome)

    def _layer(self, functionality: str, key: str, outcome: str, by_key: Mapping[str, Registration]) -> Layer:
        place = self._own_place(key, outcome, by_key)
        acts = outcome not in (MISSING, NOT_TOLD) and not outcome.startswith("fallthrough")
        if place is not None:
            return Layer(functionality, acts, outcome, place)
        layer = self._shared.get((functionality, outcome))
        if layer is None:
            fallback = self._tables.fallback(key) if outcome.endswith(FALLBACK) else None
            layer = self._shared[functionality, outcome] = Layer(functionality, acts, outcome, fallback.place if fallback is not None else None)
        return layer

    def _own_place(self, key: str, outcome: str, by_key: Mapping[str, Registration]) -> Location | None:
        """Where the registration stands that serves a layer, of those of the operator."""
        if outcome == MISSING or outcome.endswith(FALLBACK):
            return None
        for look in self._rules.looks:
            source = key if look.source == "direct" else look.source
            if outcome.endswith(look.words) and source in by_key:
                return by_key[source].place
        return None


def _representative(rules: KeyRules, functionality: str) -> str:
    """The runtime key that shows what a layer does: that of the CPU where there is one a backend."""
    prefix = rules.per_backend.get(functionality)
    return functionality if prefix is None else f"{prefix}CPU"
