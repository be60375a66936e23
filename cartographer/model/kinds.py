# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of change: their titles, their order, and which of them are bookkeeping that no caller notices."""

from __future__ import annotations

from collections import Counter
from enum import IntEnum
from typing import TYPE_CHECKING

from cartographer.model.change import Level

if TYPE_CHECKING:
    from cartographer.model.change import Change, Comparison


class Part(IntEnum):
    """A part of a comparison, from bookkeeping (PyTorch declares the same thing differently, no caller notices) to changes that break callers."""

    BOOKKEEPING = 0
    INFO = 1
    MAYBE = 2
    BREAK = 3

    def __str__(self) -> str:
        return self.name.lower()


SAME_FUNCTION = "the function that served it before, as a composite, is named for the key now"
KEY_IS_NEW = "the key {} is new in the list"
# `dispatch-lost` as information: something else still serves the key, or it is a composite, and `composite-changed` says what that means.
_BOOKS = frozenset((
    "tags-changed", "flag-changed", "generated-changed", "autogen-changed", "structured-changed", "structured-delegate-changed",
    "structured-inherits-changed", "binding-moved", "kernel-moved", "chain-changed", "dispatch-lost",
))  # fmt: skip
_GAINED = ("dispatch-gained", "effective-gained")
_TITLES = {
    "op-removed": "operators removed", "overload-removed": "overloads removed", "op-added": "new operators", "overload-added": "new overloads",
    "python-module-changed": "moved to another Python module", "variants-changed": "function or method gained or lost", "schema": "signatures changed",
    "dispatch-gained": "kernels gained", "dispatch-lost": "kernels lost", "effective-gained": "served through another operator, gained",
    "effective-lost": "served through another operator, lost", "kernel-changed": "another kernel function", "composite-changed": "what serves backends without their own kernel",
    "derivative-formula-changed": "gradients computed otherwise", "derivative-entry-added": "gradient formulas added",
    "derivative-entry-removed": "gradient formulas removed", "derivative-other-changed": "which outputs differentiate", "tags-changed": "tags",
    "flag-changed": "other keys of the list", "generated-changed": "written by hand, or made by torchgen", "autogen-changed": "variants that torchgen adds",
    "structured-changed": "structured or not", "structured-delegate-changed": "another structured operator does the work",
    "structured-inherits-changed": "structured base class", "binding-lost": "Python names lost", "binding-gained": "Python names gained",
    "binding-moved": "bound elsewhere", "served-changed": "served otherwise", "kernel-moved": "kernels moved", "kernel-code-changed": "kernels with other code",
    "chain-changed": "another way to the kernel", "node-renamed": "grad_fn renamed", "node-gained": "grad_fn can have another name", "schema-changed": "signatures that cannot be read",
    "arg-added-default": "arguments added, with a default", "arg-added-no-default": "arguments added, without a default", "arg-removed": "arguments removed",
    "arg-renamed": "arguments renamed", "arg-retyped": "types respelled", "arg-reordered": "arguments in another order", "default-added": "defaults added",
    "default-removed": "defaults removed", "default-changed": "other defaults", "arg-made-kwonly": "arguments by keyword alone",
    "arg-made-positional": "arguments by position too", "return-count-changed": "another number of results", "return-type-changed": "results of another type",
    "return-renamed": "results renamed", "alias-changed": "what is written to, or aliased",
}  # fmt: skip
KINDS = frozenset(_TITLES) - {"schema"}  # every id of a change
# In the order of what people want to know first; the rest follows by name.
ORDER = (
    "op-removed", "overload-removed", "binding-lost", "python-module-changed", "variants-changed", "schema", "op-added", "overload-added",
    "binding-gained", "dispatch-gained", "effective-gained", "kernel-changed", "kernel-code-changed", "derivative-entry-added",
)  # fmt: skip


def title(kind: str) -> str:
    """The title of a kind of change, or of a group of kinds, in words; an unknown kind is its own title."""
    return _TITLES.get(kind, kind)


def part_of(change: Change) -> Part:
    """The part of a comparison that a change belongs to: its level, or BOOKKEEPING when no caller would notice it."""
    if change.level > Level.INFO:
        return Part(change.level + 1)
    if change.id in _GAINED:
        books = change.fold in (SAME_FUNCTION, KEY_IS_NEW.format(change.detail.get("key")))
    else:  # code that many operators share is folded, and still other code
        books = change.id in _BOOKS or (bool(change.fold) and change.id != "kernel-code-changed")
    return Part.BOOKKEEPING if books else Part.INFO


def operators_by_part(comparison: Comparison) -> Counter[Part]:
    """For each part, the number of operators whose most serious change is in it."""
    worst: dict[str, Part] = {}
    for change in comparison.changes:
        worst[change.op] = max(worst.get(change.op, Part.BOOKKEEPING), part_of(change))
    return Counter(worst.values())
