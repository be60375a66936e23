# SPDX-License-Identifier: BSD-3-Clause
"""Dispatch keys as values: their order, which key covers which, and in which order the dispatcher looks for kernels.

Everything here is read from the pinned tree (c10/core/DispatchKey.h, DispatchKeySet.h and .cpp, and
aten/src/ATen/core/dispatch/OperatorEntry.cpp); see `dispatch.keys`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DIRECT = "direct"  # a kernel registered for the very key
FALLBACK = "fallback"  # the backend fallback of the key
CATCH_ALL = "CatchAll"  # a kernel registered without a key, where that is no key of its own
OWN, DEFAULT, COMPOSITE, NOTHING = "kernel", "default", "composite", "missing"  # the ways in which a backend is served, beside FALLBACK
# What serves a runtime key, in the words of the dispatcher's dump (OperatorEntry::computeDispatchTableEntryWithDebug), the most telling
# first; and in which way that is.
OUTCOMES = {
    "kernel": OWN, "default backend kernel": DEFAULT, "math kernel": COMPOSITE, "catch all": COMPOSITE, "nested kernel": COMPOSITE, "autograd kernel": OWN,
    "batched kernel": COMPOSITE, "backend fallback": FALLBACK, "fallthrough kernel": FALLBACK, "fallthrough backend fallback": FALLBACK, "missing": NOTHING,
}  # fmt: skip
# The alias keys behind what serves a key in these words, whatever a release calls them.
ALIASES = {
    "default backend kernel": ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "DefaultBackend"),
    "math kernel": ("CompositeImplicitAutograd", "Math", "CatchAll"),
    "catch all": ("CatchAll",),
    "nested kernel": ("CompositeImplicitAutogradNestedTensor",),
}
_PLACE = {words: number for number, words in enumerate(OUTCOMES)}


def by_outcome(dispatch: Mapping[str, str]) -> list[tuple[str, tuple[str, ...]]]:
    """Group runtime keys by what serves them, in the order of `OUTCOMES`; words that the dispatcher does not know (what a wheel leaves open) come last."""
    found: dict[str, list[str]] = {}
    for key, outcome in dispatch.items():
        found.setdefault(outcome, []).append(key)
    return [(words, tuple(found[words])) for words in sorted(found, key=lambda text: (_PLACE.get(text, len(_PLACE)), text))]


@dataclass(frozen=True, slots=True)
class Look:
    """One place where the dispatcher looks for a kernel, and the word that its dump uses for what it finds there."""

    source: str  # DIRECT, FALLBACK, CATCH_ALL or an alias key
    words: str  # "kernel", "math kernel", ...
    covered_by: str = ""  # the runtime key must be covered by this alias key; "" = no such condition
    without_backend_kernel: bool = False  # only if the autograd key's backend has no kernel of its own
    line: int = 0


@dataclass(frozen=True, slots=True)
class KeyRules:
    """The dispatch keys of one PyTorch and the rules between them: what the dispatcher needs to fill its table."""

    functionality: tuple[str, ...]  # from the innermost layer (backends) to the outermost
    per_backend: Mapping[str, str]  # functionality that exists once a backend: its name -> prefix of its runtime keys
    backends: tuple[str, ...]  # CPU, CUDA, ...
    runtime: tuple[str, ...]  # every key that has a slot in the dispatch table
    alias: tuple[str, ...]  # keys that only stand for others
    same: Mapping[str, str]  # second names: Autocast -> AutocastCUDA
    covers: Mapping[str, frozenset[str]]  # alias key -> runtime keys that it fills
    backend_keys: Mapping[str, frozenset[str]]  # autograd runtime key -> keys of its backends
    looks: tuple[Look, ...]  # in the order of precedence
    backend_kernel_sources: tuple[str, ...] = ()  # alias keys that count as a backend kernel: CompositeExplicitAutograd
    catch_all: str = CATCH_ALL  # what a registration without a key becomes
    included_by_default: tuple[str, ...] = ()  # default_included_set
    excluded_by_default: tuple[str, ...] = ()  # default_excluded_set
    functionality_of: Mapping[str, str] = field(default_factory=dict)  # runtime key -> functionality key
    lines: Mapping[str, int] = field(default_factory=dict)  # where each key stands in DispatchKey.h

    def key(self, name: str) -> str:
        """The main name of a dispatch key that has several: `Autocast` -> `AutocastCUDA`."""
        return self.same.get(name, name)

    def is_backend(self, functionality: str) -> bool:
        """Whether a functionality key is that of a backend with kernels: these come before BackendSelect in DispatchKey.h."""
        if functionality not in self.functionality or "BackendSelect" not in self.functionality:
            return functionality in self.per_backend
        return self.functionality.index(functionality) < self.functionality.index("BackendSelect")
