# SPDX-License-Identifier: BSD-3-Clause
"""Tells what serves a backend's key where an operator has no kernel for it: the fallback that is registered for all operators together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.link.raising import only_raises
from cartographer.model.backend import device_of_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from cartographer.link.tree import Tree
    from cartographer.model.operator import Operator, Registration


class Fallbacks:
    """Finds the functions behind the fallbacks of a tree, `m.fallback(…)` in a `TORCH_LIBRARY_IMPL(_, KEY, m)`."""

    def __init__(self, tree: Tree, raises: Callable[[str], bool]) -> None:
        self._tree = tree
        self._raises = raises
        self._told: dict[str, str] = {}

    def says(self, key: str, operator: Operator) -> str:
        """What the fallbacks of a key are, in the order of the source (the first one is the default, as in MPSFallback.mm); "" when
        none is known. Boxed functions take what any operator is given, so that any one may ask.
        """
        told = self._told.get(key)
        if told is None:
            told = self._told[key] = ", or ".join(self._one(registration, operator) for registration in self._tree.fallbacks.get(key, ()))
        return told

    def _one(self, registration: Registration, operator: Operator) -> str:
        defined = self._tree.entries(device_of_key(registration.key)).find(operator, registration).defined
        if defined is None:
            return f"{registration.kernel or 'a function'} ({registration.place})"
        what = ", which only raises" if only_raises(defined.whole, self._raises) else ""
        return f"{defined.symbol} ({defined.path}:{defined.line}){what}"
