# SPDX-License-Identifier: BSD-3-Clause
"""Decides which calls in a body may lead to a kernel, on whatever device: most names in a body do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.link.index import CLASSES, FUNCTIONS
from cartographer.link.names import wanted_of

if TYPE_CHECKING:
    from cartographer.link.bodies import Bodies
    from cartographer.link.sites import Spot


class Leading:
    """Judges calls by the definitions that their names can mean, in the bodies of one tree."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._names: dict[str, bool] = {}

    def leads(self, spot: Spot, name: str) -> bool:
        """Whether a call may lead to a kernel, by its name, by the callbacks that it passes, or by the variable that it calls."""
        if spot.handed.callbacks or self._may_mean(name):
            return True
        variables = self._bodies.variables(spot.inside) if spot.call.form == "call" else None
        return variables is not None and (name in variables.assigned or self._may_mean(variables.written_class(name)))

    def _may_mean(self, name: str) -> bool:
        """Whether a name may mean such a function, or a class of such functions; what `TH` begins with is put together by macros."""
        known = self._names.get(name) if name else False
        if known is None:
            index, wanted = self._bodies.index, wanted_of(name)
            found = [d for d in index.named(wanted[-1]) if d.fact.kind in FUNCTIONS or d.fact.kind in CLASSES] if wanted else []
            alias = any(d.fact.kind == "alias" for d in index.named(name))
            known = self._names[name] = alias or name.startswith("TH") or any(map(self._bodies.follows, found))
        return known
