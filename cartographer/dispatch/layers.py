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


def layers_of(
    rules: KeyRules, tables: Tables, dispatch: Mapping[str, str], registrations: Sequence[Registration]
) -> tuple[Layer, ...]:
    """Every layer above the backends, outermost first: it acts when its entry is neither a fallthrough nor missing."""
    layers: list[Layer] = []
    by_key = {r.key: r for r in registrations if r.active}
    for functionality in reversed(rules.functionality):
        key = _representative(rules, functionality)
        outcome = dispatch.get(key, "")
        if outcome and not rules.is_backend(functionality):
            acts = outcome not in (MISSING, NOT_TOLD) and not outcome.startswith("fallthrough")
            layers.append(Layer(functionality, acts, outcome, _place(key, outcome, rules, tables, by_key)))
    return tuple(layers)


def _representative(rules: KeyRules, functionality: str) -> str:
    """The runtime key that shows what a layer does: that of the CPU where there is one a backend."""
    prefix = rules.per_backend.get(functionality)
    return functionality if prefix is None else f"{prefix}CPU"


def _place(
    key: str, outcome: str, rules: KeyRules, tables: Tables, by_key: Mapping[str, Registration]
) -> Location | None:
    if outcome.endswith("backend fallback"):
        fallback = tables.fallback(key)
        return fallback.place if fallback is not None else None
    for look in rules.looks:
        source = key if look.source == "direct" else look.source
        if outcome.endswith(look.words) and source in by_key:
            return by_key[source].place
    return None
