# SPDX-License-Identifier: BSD-3-Clause
"""One change between two releases, and how much it matters."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Level(IntEnum):
    """How much a change matters to those who use the operator."""

    INFO = 0
    MAYBE = 1  # for some: overriding subclasses, backend authors, serialized programs
    BREAK = 2  # a caller's old code can fail

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class ChangePlace:
    """Where the one or the other side says so."""

    side: str  # "old" | "new"
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one operator. `id` is one of the ids of the published format."""

    id: str
    level: Level
    op: str
    reason: str
    old: str | None = None
    new: str | None = None
    detail: Mapping[str, object] = field(default_factory=dict)
    places: tuple[ChangePlace, ...] = ()
    generated: bool = False  # of an operator that torchgen adds
    fold: str = ""  # why it only looks big; such changes are shown as one line with their count


@dataclass(frozen=True, slots=True)
class Comparison:
    """All changes between two releases, breaks first."""

    old: str  # versions
    new: str
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    old_web: str = ""  # where permalinks of each side begin: .../blob/<commit or tag>
    new_web: str = ""
