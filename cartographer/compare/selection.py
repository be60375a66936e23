# SPDX-License-Identifier: BSD-3-Clause
"""Selects the changes that a reader asked for, and groups them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from cartographer.errors import CompareError
from cartographer.model.change import Level
from cartographer.model.kinds import KINDS

if TYPE_CHECKING:
    from cartographer.model.change import Change, Comparison
    from cartographer.model.oplist import OperatorList


@dataclass(frozen=True, slots=True)
class Selection:
    """The filters on changes; an empty one keeps all. `core`: names of the operators tagged core in the new release, or None."""

    level: Level = Level.INFO
    ops: tuple[str, ...] = ()  # globs over full or short names
    backend: str = ""
    kinds: tuple[str, ...] = ()
    core: frozenset[str] | None = None

    def keeps(self, change: Change) -> bool:
        """Whether a change passes all filters."""
        return (
            change.level >= self.level
            and (not self.ops or any(_matches(change.op, glob) for glob in self.ops))
            and (not self.backend or self.backend.lower() in _keys(change))
            and (not self.kinds or change.id in self.kinds)
            and (self.core is None or change.op in self.core)
        )


def _matches(name: str, glob: str) -> bool:
    short = name.partition("::")[2]
    return any(fnmatchcase(spelled, glob) for spelled in (name, short, short.partition(".")[0]))


def _keys(change: Change) -> tuple[str, ...]:
    """The dispatch keys that a change is of, in lower case: people write `cuda` for CUDA."""
    keys = change.detail.get("keys", change.detail.get("backends"))
    return tuple(str(key).lower() for key in (keys if isinstance(keys, list) else (change.detail.get("key"),)))


def select(comparison: Comparison, selection: Selection) -> Comparison:
    """The comparison with only the changes that pass."""
    return replace(comparison, changes=tuple(c for c in comparison.changes if selection.keeps(c)), filtered=selection != Selection())


def check(selection: Selection, old: OperatorList, new: OperatorList) -> tuple[str, ...]:
    """Notes on filters that match nothing in either list: a pattern without an operator is noted, an unknown dispatch key is an error.

    Raises CompareError, so that a misspelt filter never reads as "no changes".
    """
    rows = [*old.rows.values(), *new.rows.values()]
    known = {key for row in rows for key in row.dispatch}
    spelled = {key.lower(): key for key in sorted(known)}
    if selection.backend and selection.backend.lower() not in spelled:
        near = [spelled[key] for key in get_close_matches(selection.backend.lower(), spelled, 3, 0.5)]
        raise CompareError(f"neither release has the dispatch key {selection.backend!r}", hint=f"did you mean {', '.join(near)}?" if near else None)
    if unknown := sorted(set(selection.kinds) - KINDS):
        near = get_close_matches(unknown[0], sorted(KINDS), 3, 0.5)
        raise CompareError(f"there is no kind of change {unknown[0]!r}", hint=f"did you mean {', '.join(near)}?" if near else "kinds: " + ", ".join(sorted(KINDS)))
    names = {row.name for row in rows}
    return tuple(f"no operator of either release is called {glob}" for glob in selection.ops if not any(_matches(name, glob) for name in names))
