# SPDX-License-Identifier: BSD-3-Clause
"""The headings of the parts of a comparison, and the order in which changes are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.compare.schemas import SCHEMA_IDS
from cartographer.model.change import is_public
from cartographer.model.kinds import ORDER, Part

if TYPE_CHECKING:
    from cartographer.model.change import Change

PARTS = (
    (Part.BREAK, "BREAKS", "old calls can fail"),
    (Part.MAYBE, "MAYBE", "overriding subclasses, registered kernels, serialized programs, gradients"),
    (Part.INFO, "INFORMATION", "what is new, and kernels: nothing to do"),
    (Part.BOOKKEEPING, "BOOKKEEPING", "tags, flags, files, layers: no call meets it"),
)


def group_of(change: Change) -> str:
    """The group of changes in which a change is listed: all changes of a signature are one group."""
    return "schema" if change.id in SCHEMA_IDS else change.id


def rank(change: Change) -> tuple[int, str, bool, str, str]:
    """A sort key for changes: the most serious first, public operators first."""
    group = group_of(change)
    return ORDER.index(group) if group in ORDER else len(ORDER), group, not is_public(change), change.op, change.id
