# SPDX-License-Identifier: BSD-3-Clause
"""Which of the changes a reader asked for, and how they are grouped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from cartographer.model.change import Level

if TYPE_CHECKING:
    from cartographer.model.change import Change, Comparison


@dataclass(frozen=True, slots=True)
class Selection:
    """Filters; an empty one lets all through. `core`: names of the operators tagged core in the new release, or None."""

    level: Level = Level.INFO
    ops: tuple[str, ...] = ()  # globs over full or short names
    backend: str = ""
    kinds: tuple[str, ...] = ()
    core: frozenset[str] | None = None

    def keeps(self, change: Change) -> bool:
        """Whether the change passes all filters."""
        short = change.op.partition("::")[2]
        return (
            change.level >= self.level
            and (not self.ops or any(fnmatchcase(name, glob) for glob in self.ops for name in (change.op, short, short.partition(".")[0])))
            and (not self.backend or self.backend in _keys(change))
            and (not self.kinds or change.id in self.kinds)
            and (self.core is None or change.op in self.core)
        )


def _keys(change: Change) -> tuple[object, ...]:
    """The dispatch keys that a change is of."""
    keys = change.detail.get("keys")
    return tuple(keys) if isinstance(keys, list) else (change.detail.get("key"),)


def select(comparison: Comparison, selection: Selection) -> Comparison:
    """The comparison with the changes that pass."""
    return replace(comparison, changes=tuple(c for c in comparison.changes if selection.keeps(c)))
