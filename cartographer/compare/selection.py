# SPDX-License-Identifier: BSD-3-Clause
"""Selects the changes that a reader asked for, and groups them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from cartographer.errors import CompareError
from cartographer.model.backend import OUT_OF_TREE
from cartographer.model.change import Level
from cartographer.model.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from cartographer.model.change import Change, Comparison
    from cartographer.model.oplist import OperatorList, OperatorRow


@dataclass(frozen=True, slots=True)
class Selection:
    """The filters on changes; an empty one keeps all. `core`: names of the operators tagged core in the new release, or None."""

    level: Level = Level.INFO
    ops: tuple[str, ...] = ()  # globs over full or short names
    backend: str = ""  # a dispatch key, in any case
    kinds: tuple[str, ...] = ()
    core: frozenset[str] | None = None
    names: frozenset[str] = frozenset()  # further names of the dispatch key, in lower case

    def keeps(self, change: Change) -> bool:
        """Whether a change passes all filters."""
        return (
            change.level >= self.level
            and (not self.ops or any(_matches(change.op, glob) for glob in self.ops))
            and (not self.backend or not {self.backend.lower(), *self.names}.isdisjoint(_keys(change)))
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


def spelled_out(selection: Selection, old: OperatorList, new: OperatorList) -> Selection:
    """The selection with its dispatch key as the releases spell it, and the main names of that: `Autocast` is `AutocastCUDA` from 1.10 on, and changes name that."""
    found = {name: main for side in (old, new) for name, main in side.keys.items() if name.lower() == selection.backend.lower()}
    return replace(selection, backend=next(iter(found), selection.backend), names=selection.names | {main.lower() for main in found.values()})


def check(selection: Selection, old: OperatorList, new: OperatorList) -> tuple[str, ...]:
    """Notes on filters that match nothing in either list: a pattern without an operator, a dispatch key to which no list registers.

    Raises CompareError for a key or kind that there is not, so that a misspelt filter never reads as "no changes".
    """
    rows = [*old.rows.values(), *new.rows.values()]
    used = {key for row in rows for key in row.dispatch}
    spelled = {key.lower(): key for key in sorted({*used, *old.keys, *new.keys})}
    if selection.backend and selection.backend.lower() not in spelled:
        near = [spelled[key] for key in get_close_matches(selection.backend.lower(), spelled, 3, 0.5)]
        told = all(side.keys for side in (old, new))  # the list of an early release, or of an atlas made before it held them, may lack them
        lost = "neither release has the dispatch key" if told else "neither operator list names the dispatch key"
        raise CompareError(f"{lost} {selection.backend!r}", hint=f"did you mean {', '.join(near)}?" if near else None)
    if unknown := sorted(set(selection.kinds) - KINDS):
        near = get_close_matches(unknown[0], sorted(KINDS), 3, 0.5)
        raise CompareError(f"there is no kind of change {unknown[0]!r}", hint=f"did you mean {', '.join(near)}?" if near else "kinds: " + ", ".join(sorted(KINDS)))
    names = {row.name for row in rows}
    without = tuple(glob for glob in selection.ops if not any(_matches(name, glob) for name in names))
    if without and without == selection.ops:
        raise CompareError(f"no operator of either release is called {' or '.join(without)}", hint="--op takes a name or a pattern, with its namespace or without: 'add*', 'aten::add.Tensor'")
    return tuple(f"no operator of either release is called {glob}" for glob in without)


def not_compared(selection: Selection, rows: Iterable[OperatorRow], tables: AbstractSet[str] | None) -> tuple[str, ...]:
    """A note when nothing of the dispatch key that is asked for can have been compared: no operator list registers to it, and the dispatch
    tables (None without two atlases) leave it out; else "no changes" would read as an answer.
    """
    asked = {selection.backend.lower(), *selection.names}
    if not selection.backend or any(key.lower() in asked for row in rows for key in row.dispatch):
        return ()
    if tables is None:
        return (f"no operator list registers to {selection.backend}; what serves it is compared between two atlases alone: build both",)
    if any(key.lower() in asked for key in tables):
        return ()
    shown = f"these show the keys that something registers to, and {OUT_OF_TREE} for every backend that registers nothing"
    return (f"{selection.backend} is in the dispatch tables of neither atlas, so nothing of it is compared: {shown}",)
