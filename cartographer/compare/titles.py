# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of change in words, and the order in which people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.compare.schemas import SCHEMA_IDS
from cartographer.model.change import Level, is_public

if TYPE_CHECKING:
    from cartographer.model.change import Change

LEVELS = (
    (Level.BREAK, "BREAKS", "old calls can fail"),
    (Level.MAYBE, "MAYBE", "overriding subclasses, registered kernels, serialized programs, gradients"),
    (Level.INFO, "INFORMATION", "nothing to do"),
)
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
    "chain-changed": "another way to the kernel", "node-renamed": "grad_fn renamed", "node-gained": "grad_fn can have another name", "arg-retyped": "types respelled",
}  # fmt: skip
KINDS = frozenset((*_TITLES, *SCHEMA_IDS, "schema-changed")) - {"schema"}  # every id of a change
_ORDER = ("op-removed", "overload-removed", "binding-lost", "python-module-changed", "variants-changed", "schema")


def group_of(change: Change) -> str:
    """What a change is listed under: all changes of a signature are one group."""
    return "schema" if change.id in SCHEMA_IDS else change.id


def title(group: str) -> str:
    """A group in words."""
    return _TITLES.get(group, group)


def rank(change: Change) -> tuple[int, str, bool, str, str]:
    """In the order of what hurts most, public operators first."""
    group = group_of(change)
    return _ORDER.index(group) if group in _ORDER else len(_ORDER), group, not is_public(change), change.op, change.id
