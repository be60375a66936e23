# SPDX-License-Identifier: BSD-3-Clause
"""Computes what serves each runtime key of an operator, as OperatorEntry::computeDispatchTableEntryWithDebug does, from values alone
(aten/src/ATen/core/dispatch/OperatorEntry.cpp; the order of the looks is read from there, see `keys`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.model.dispatch import CATCH_ALL, DIRECT, FALLBACK

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.dispatch.findings import Fallback
    from cartographer.model.dispatch import KeyRules
    from cartographer.model.operator import Registration

MISSING = "missing"
NOT_TOLD = "not in a wheel"
AMBIGUOUS = "ambiguous autogradother"
# Keys that stand for a backend outside the tree: what PyTorch does for a backend that registers nothing.
OUT_OF_TREE = ("PrivateUse1", "AutogradPrivateUse1")
_PLATFORM_TERMS = {"HIP": "rocm"}


class Tables:
    """Computes the dispatch tables of operators; operators with the same registered keys share one table."""

    def __init__(
        self, rules: KeyRules, fallbacks: Iterable[Fallback], shown: Iterable[str] | None = None, *, complete: bool = True
    ) -> None:
        self._rules = rules
        self._complete = complete
        self._fallbacks: dict[str, list[Fallback]] = {}
        for fallback in fallbacks:
            self._fallbacks.setdefault(rules.key(fallback.key), []).append(fallback)
        self.shown = tuple(rules.runtime if shown is None else shown)
        self._known: dict[frozenset[tuple[str, bool, tuple[str, ...]]], dict[str, str]] = {}
        self._terms = {key: self._platform(key) for key in self.shown}
        self._looks = {key: self._looks_of(key) for key in self.shown}

    def fallback(self, key: str) -> Fallback | None:
        """The backend fallback of a key, in the stock build or in one for the key's platform; None when there is none."""
        terms = self._terms.get(key) or self._platform(key)
        # The first one in the source is the default where a condition at run time picks one (MPSFallback.mm).
        return next((f for f in self._fallbacks.get(key, ()) if set(f.build) <= terms), None)

    def of(self, registrations: Iterable[Registration]) -> Mapping[str, str]:
        """The dispatch table for some registrations: {runtime key: what serves it, in the words of the dispatcher's dump}."""
        registered = frozenset((r.key, r.fallthrough, r.build) for r in registrations if r.active)
        return self._all(registered)

    def of_kernels(self, kernels: Mapping[str, bool]) -> Mapping[str, str]:
        """The dispatch table for kernels that are given as {key: whether it is a fallthrough}."""
        registered = frozenset((key, fallthrough, ()) for key, fallthrough in kernels.items())
        return self._all(registered)

    def _all(self, registered: frozenset[tuple[str, bool, tuple[str, ...]]]) -> Mapping[str, str]:
        known = self._known.get(registered)
        if known is None:
            kernels: dict[frozenset[str], dict[str, bool]] = {}  # by the words of a build: those that it has
            for terms in self._terms.values():
                if terms not in kernels:
                    kernels[terms] = {k: fallthrough for k, fallthrough, build in registered if not build or set(build) <= terms}
            known = self._known[registered] = {key: self._serves(key, registered, kernels[self._terms[key]]) for key in self.shown}
        return known

    def _looks_of(self, key: str) -> list[tuple[str, str, bool]]:
        """Where the dispatcher looks for a kernel of a key, as (source, words, whether backend kernels go first); nothing
        is looked for behind a fallback, whose source is "".
        """
        covers, found = self._rules.covers, []
        for look in self._rules.looks:
            if look.covered_by and key not in covers.get(look.covered_by, ()):
                continue
            if look.source == FALLBACK:
                fallback = self.fallback(key)
                if fallback is not None:
                    found.append(("", ("fallthrough " if fallback.fallthrough else "") + look.words, False))
                    break
            elif look.source in (DIRECT, CATCH_ALL) or key in covers.get(look.source, ()):
                found.append((key if look.source == DIRECT else look.source, look.words, look.without_backend_kernel))
        return found

    def _platform(self, key: str) -> frozenset[str]:
        """The words of builds that have the key's backend: an MPS key is looked at in a build with MPS."""
        backends = sorted(self._rules.backends, key=len, reverse=True)
        backend = next((b for b in backends if key.endswith(b)), key)
        return frozenset({_PLATFORM_TERMS.get(backend, backend.lower())})

    def _serves(self, key: str, registered: frozenset[tuple[str, bool, tuple[str, ...]]], kernels: Mapping[str, bool]) -> str:
        if not self._complete and not self._is_told(key, registered):
            return NOT_TOLD
        for source, words, without_backend_kernel in self._looks[key]:
            if not source:
                return words
            if source not in kernels:
                continue
            if without_backend_kernel and (answer := self._backend_kernel(key, kernels)):
                if answer == AMBIGUOUS:
                    return AMBIGUOUS
                continue
            return ("fallthrough " if kernels[source] else "") + words
        return MISSING

    def _is_told(self, key: str, registered: frozenset[tuple[str, bool, tuple[str, ...]]]) -> bool:
        """Whether the answer is certain without the .cpp files: a kernel of the key itself is known, or the key is a
        backend's or its autograd key, for which nothing but generated code registers as a rule.
        """
        if any(k == key for k, _, _ in registered):
            return True
        rules = self._rules
        functionality = rules.functionality_of.get(key, "")
        backend = functionality in rules.per_backend or rules.is_backend(functionality)
        covered = any(k in rules.alias and key in rules.covers.get(k, ()) for k, _, _ in registered)
        return backend and covered

    def _backend_kernel(self, key: str, kernels: Mapping[str, bool]) -> str:
        backends = self._rules.backend_keys.get(key, frozenset())
        has_kernel = any(k in backends for k in kernels)
        if key == "AutogradOther" and has_kernel:
            return AMBIGUOUS
        return "yes" if has_kernel or any(k in kernels for k in self._rules.backend_kernel_sources) else ""


def shown_keys(
    rules: KeyRules, registrations: Iterable[Registration], fallbacks: Iterable[Fallback], *, complete: bool = True
) -> tuple[str, ...]:
    """The runtime keys that something in this PyTorch registers to, and those of a backend outside the tree; all
    others are served like the latter. Without the .cpp files what registers to the layers is not seen: all are shown.
    """
    used = {r.key for r in registrations} | {rules.key(f.key) for f in fallbacks} | set(OUT_OF_TREE)
    if not complete:
        backends = [b for b in rules.backends if b in used]
        used |= {f for f in rules.functionality if f not in rules.per_backend and not rules.is_backend(f)}
        used |= {prefix + b for f, prefix in rules.per_backend.items() if f.startswith("Autograd") for b in backends}
    return tuple(key for key in rules.runtime if key in used)
