# SPDX-License-Identifier: BSD-3-Clause
"""One change between two releases, how much it matters, and which changes are shown as one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping  # noqa: TC003 - the store decodes by these annotations
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Level(IntEnum):
    """How much a change matters to those who use the operator."""

    INFO = 0
    MAYBE = 1  # for some: overriding subclasses, backend authors, serialized programs
    BREAK = 2  # a caller's old code can fail

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class ChangePlace:
    """A line in the old or the new release that shows the change."""

    side: str  # "old" | "new"
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one operator. `id` is one of the ids in the published format of `cartographer diff --format json`."""

    id: str
    level: Level
    op: str
    reason: str
    old: str | None = None
    new: str | None = None
    detail: Mapping[str, object] = field(default_factory=dict)
    places: tuple[ChangePlace, ...] = ()
    generated: bool = False  # of an operator that torchgen adds
    bound: bool = True  # Python has, or had, a name for it; False: C++ alone calls it
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
    filtered: bool = False  # only what somebody asked for


def is_public(change: Change) -> bool:
    """Whether people call it by this name: no leading underscore, not one of torchgen's own variants, not for C++ alone."""
    return change.bound and not change.generated and (not (name := change.op.partition("::")[2]).startswith("_") or name.startswith("__"))


_OF_KEYS = ("dispatch-", "effective-", "kernel-changed")  # kinds that are of one dispatch key each


def folded(changes: Iterable[Change]) -> tuple[list[Change], list[tuple[str, str, int]]]:
    """Split changes into those to show one by one, and folds (id, why, how many); a fold that would hold a single change shows that change."""
    counts: Counter[tuple[str, str]] = Counter()
    keys: dict[tuple[str, str], Counter[str]] = {}
    kept: list[Change] = []
    waiting: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        if change.fold:
            counts[change.id, change.fold] += 1
            waiting.setdefault((change.id, change.fold), []).append(change)
            if change.id.startswith(_OF_KEYS) and (key := str(change.detail.get("key"))) not in change.fold:
                keys.setdefault((change.id, change.fold), Counter())[key] += 1
        else:
            kept.append(change)
    kept += [change for group in waiting.values() if len(group) == 1 for change in group]
    folds = [(id_, why + _among(keys.get((id_, why), Counter())), n) for (id_, why), n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n > 1]
    return kept, folds


def _among(keys: Counter[str]) -> str:
    """The dispatch keys in a fold, the most frequent first."""
    if not keys:
        return ""
    shown = [f"{key} {number:,}" for key, number in sorted(keys.items(), key=lambda item: (-item[1], item[0]))]
    return f" ({', '.join(shown[:6])}{', …' if len(shown) > 6 else ''})"
