# SPDX-License-Identifier: BSD-3-Clause
"""Tells whom a change affects: Python or C++ alone, which backends, which other operators; and which backends are new as a whole."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from cartographer.compare.registrations import effective_keys
from cartographer.model.change import Change, Level
from cartographer.model.kinds import KEY_IS_NEW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cartographer.model.oplist import OperatorList, OperatorRow

_CALLED = re.compile(r"(?<![\w>:])(?:at::)?([A-Za-z_]\w*)\(")
# A backend arrives when one release brings at least so many of its keys, and three times as many as there were.
_ARRIVAL = 50
_EXPLICIT = "CompositeExplicitAutograd"
_CATCH_ALL = f"a catch-all kernel with a gradient formula is what {_EXPLICIT} is called now"
_TIMES = 3


def in_context(changes: Iterable[Change], old: OperatorList, new: OperatorList) -> tuple[Change, ...]:
    """The changes, each with what the two operator lists tell about those that it affects."""
    changes = tuple(changes)
    users_old, users_new = _Users(old), _Users(new)
    had = Counter(key for row in old.rows.values() for key in row.dispatch)
    got = Counter(str(c.detail.get("key")) for c in changes if c.id == "dispatch-gained")
    arrived = {key: had[key] for key, number in got.items() if number >= _ARRIVAL and number >= _TIMES * had[key]}
    known_old, known_new = _Known(old), _Known(new)
    found = []
    for change in changes:
        row = new.rows.get(change.op) or old.rows[change.op]
        side, users = (new, users_new) if change.op in new.rows else (old, users_old)
        detail = dict(change.detail)
        if change.level > Level.INFO:
            if "key" not in detail and "keys" not in detail:
                detail["backends"] = sorted(effective_keys(row, side))
            detail["named_by"] = users.of(row)
        if change.level is Level.BREAK:
            detail["python_names"] = list(_python(change.op, old, new))
        if _is_renamed_catch_all(change, had, old):
            change = replace(change, level=Level.INFO, fold=_CATCH_ALL)  # noqa: PLW2901
        found.append(replace(change, detail=detail, bound=_is_bound(change.op, old, new), fold=_arrival(change, arrived) or change.fold or _novelty(change, known_old, known_new)))
    return tuple(found)


def _is_renamed_catch_all(change: Change, had: Mapping[str, int], old: OperatorList) -> bool:
    """Releases that knew catch-all kernels alone (to 1.7) wrote a kernel for all backends with its own gradient like any other one."""
    return change.id == "composite-changed" and change.old == "Implicit" and not had[_EXPLICIT] and old.rows[change.op].derivative is not None


def _python(name: str, old: OperatorList, new: OperatorList) -> tuple[str, ...]:
    names = [names for side in (old, new) if (row := side.rows.get(name)) is not None for names in row.python or ()]
    return tuple(dict.fromkeys(names))


def _is_bound(name: str, old: OperatorList, new: OperatorList) -> bool:
    """Whether Python had or has a name for it, or nobody told."""
    return any(row.python is None or row.python for side in (old, new) if (row := side.rows.get(name)) is not None)


def _arrival(change: Change, arrived: Mapping[str, int]) -> str:
    key = str(change.detail.get("key"))
    if change.id not in {"dispatch-gained", "effective-gained"} or key not in arrived:
        return ""
    if key.startswith("Composite"):
        return "" if arrived[key] else KEY_IS_NEW.format(key)
    before = f"it had {arrived[key]:,}" if arrived[key] else "it had none"
    return f"kernels of {key} came into this list all in one release ({before}): a backend arrives or moves in, the operators stay what they were"


class _Known:
    """What a list can say of an operator at all: its keys, its tags, its structured groups."""

    def __init__(self, side: OperatorList) -> None:
        rows = side.rows.values()
        self.flags = frozenset(flag for row in rows for flag in row.flags)
        self.tags = frozenset(tag for row in rows for tag in row.tags)
        self.ids = frozenset(id_ for id_, told in _TOLD.items() if any(told(row) for row in rows))


_TOLD: dict[str, Callable[[OperatorRow], bool]] = {
    "structured-changed": lambda row: row.structured, "structured-delegate-changed": lambda row: bool(row.structured_delegate),
    "structured-inherits-changed": lambda row: bool(row.structured_inherits), "autogen-changed": lambda row: bool(row.autogen),
}  # fmt: skip


def _novelty(change: Change, old: _Known, new: _Known) -> str:
    """Why a change says nothing of the operator: the one list has no such key or tag at all, of nobody."""
    if change.id == "flag-changed":
        flag = str(change.detail.get("flag"))
        return f"the key {flag} is new in the list" if flag not in old.flags else f"the list has no key {flag} any more" if flag not in new.flags else ""
    if change.id == "tags-changed":
        gained, lost = (frozenset(map(str, names)) if isinstance(names := change.detail.get(word), list) else frozenset() for word in ("gained", "lost"))
        if not (gained & old.tags or lost & new.tags):
            return "; ".join([f"the tag {tag} is new" for tag in sorted(gained)] + [f"the tag {tag} is no more" for tag in sorted(lost)])
    if change.id in _TOLD and (change.id in old.ids) != (change.id in new.ids):
        word = change.id.removesuffix("-changed").replace("-", "_")
        return f"`{word}` is new in the list" if change.id in new.ids else f"the list has no `{word}` any more"
    return ""


class _Users:
    """Operators that the list says use others: derivative formulas that call them, structured operators that they delegate to."""

    def __init__(self, side: OperatorList) -> None:
        self._by_base: dict[str, set[str]] = {}
        self._by_name: dict[str, set[str]] = {}
        for name, row in side.rows.items():
            for formula in row.derivative.formulas.values() if row.derivative is not None else ():
                for called in _CALLED.findall(formula):
                    self._by_base.setdefault(called.removesuffix("_symint"), set()).add(name)
            if row.structured_delegate:
                self._by_name.setdefault(f"aten::{row.structured_delegate}", set()).add(name)

    def of(self, row: OperatorRow) -> list[str]:
        """Sorted names of the others."""
        base = row.name.partition("::")[2].partition(".")[0]
        return sorted((self._by_base.get(base, set()) | self._by_name.get(row.name, set())) - {row.name})
