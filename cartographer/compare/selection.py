# SPDX-License-Identifier: BSD-3-Clause
"""Which of the changes a reader asked for, and how they are grouped."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from cartographer.compare.change import Level

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.compare.change import Change, Comparison


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
            and (not self.backend or change.detail.get("key") == self.backend)
            and (not self.kinds or change.id in self.kinds)
            and (self.core is None or change.op in self.core)
        )


def select(comparison: Comparison, selection: Selection) -> Comparison:
    """The comparison with the changes that pass."""
    return replace(comparison, changes=tuple(c for c in comparison.changes if selection.keeps(c)))


def is_public(change: Change) -> bool:
    """Whether people call it by this name: no leading underscore, not one of torchgen's own variants."""
    return not change.op.partition("::")[2].startswith("_") and not change.generated


def operators_by_level(comparison: Comparison) -> Counter[Level]:
    """How many operators have their worst change at each level."""
    worst: dict[str, Level] = {}
    for change in comparison.changes:
        worst[change.op] = max(worst.get(change.op, Level.INFO), change.level)
    return Counter(worst.values())


def folded(changes: Iterable[Change]) -> tuple[list[Change], list[tuple[str, str, int]]]:
    """(the changes to show one by one, the folds: (id, why, how many)); a fold of one is shown."""
    counts: Counter[tuple[str, str]] = Counter()
    kept: list[Change] = []
    waiting: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        if change.fold:
            counts[change.id, change.fold] += 1
            waiting.setdefault((change.id, change.fold), []).append(change)
        else:
            kept.append(change)
    kept += [change for group in waiting.values() if len(group) == 1 for change in group]
    folds = [(id_, why, n) for (id_, why), n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n > 1]
    return kept, folds
