# SPDX-License-Identifier: BSD-3-Clause
"""Changes of an operator's row in derivatives.yaml."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.model.change import Change, ChangePlace, Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.model.oplist import DerivativeRow, OperatorRow

_SYMINT = re.compile(r"_symint\b|\bsym_(?=\w+\()|\bc10::fromIntArrayRefSlow\b")


def derivative_changes(was: OperatorRow, now: OperatorRow) -> Iterator[Change]:
    """Rows that come and go, formulas that differ, other keys that differ."""
    before, after = was.derivative, now.derivative
    if before is None and after is None:
        return
    if before is None or after is None:
        row, word, side = (after, "added", "new") if before is None else (before, "removed", "old")
        assert row is not None
        level = Level.INFO if before is None else Level.MAYBE
        reason = "it has a formula of its own" if before is None else "its gradient comes from the operators that it calls, if at all"
        text = "; ".join(f"{key}: {formula}" for key, formula in row.formulas.items())
        yield Change(f"derivative-entry-{word}", level, now.name, reason, text if side == "old" else None, text if side == "new" else None,
                     {"formulas": dict(row.formulas)}, (ChangePlace(side, row.path, row.line),))
        return
    places = (ChangePlace("old", before.path, before.line), ChangePlace("new", after.path, after.line))
    yield from _formulas(now.name, before, after, places)
    for key in sorted(before.other.keys() | after.other.keys()):
        if before.other.get(key) != after.other.get(key):
            yield Change("derivative-other-changed", Level.MAYBE, now.name, f"{key} changed", before.other.get(key), after.other.get(key),
                         {"what": key}, places)


def _formulas(name: str, before: DerivativeRow, after: DerivativeRow, places: tuple[ChangePlace, ...]) -> Iterator[Change]:
    for key in sorted(before.formulas.keys() | after.formulas.keys()):
        old, new = before.formulas.get(key), after.formulas.get(key)
        if old == new or (old and new and " ".join(old.split()) == " ".join(new.split())):
            continue
        dispatch, _, argument = key.partition(" ")
        symint = old is not None and new is not None and _SYMINT.sub("", old) == _SYMINT.sub("", new)
        reason = "only respelled for SymInt" if symint else f"the gradient of {argument} is computed otherwise"
        detail: dict[str, object] = {"arg": argument, "key": dispatch, **({"only": "symint spelling"} if symint else {})}
        yield Change("derivative-formula-changed", Level.INFO if symint else Level.MAYBE, name, reason, old, new, detail, places,
                     fold="formulas respelled for SymInt" if symint else "")
