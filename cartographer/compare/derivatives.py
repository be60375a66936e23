# SPDX-License-Identifier: BSD-3-Clause
"""Compares an operator's row in derivatives.yaml between two releases."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.compare.schemas import argument_names
from cartographer.model.change import Change, ChangePlace, Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.model.oplist import DerivativeRow, OperatorRow

_SYMINT = re.compile(r"_symint\b|\bsym_(?=\w+\()|\bc10::fromIntArrayRefSlow\b")


def derivative_changes(was: OperatorRow, now: OperatorRow) -> Iterator[Change]:
    """The changes of the row: it was added or removed, its formulas differ, or its other keys do."""
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
    yield from _formulas(now, before, after, places)
    for key in sorted(before.other.keys() | after.other.keys()):
        if before.other.get(key) != after.other.get(key):
            yield Change("derivative-other-changed", Level.MAYBE, now.name, f"{key} changed", before.other.get(key), after.other.get(key),
                         {"what": key}, places)


def _formulas(now: OperatorRow, before: DerivativeRow, after: DerivativeRow, places: tuple[ChangePlace, ...]) -> Iterator[Change]:
    inputs = argument_names(now.schema)
    for key in sorted(before.formulas.keys() | after.formulas.keys()):
        old, new = before.formulas.get(key), after.formulas.get(key)
        if old == new or (old and new and " ".join(old.split()) == " ".join(new.split())):
            continue
        dispatch, _, argument = key.partition(" ")
        symint = old is not None and new is not None and _SYMINT.sub("", old) == _SYMINT.sub("", new)
        level, reason = (Level.INFO, "only respelled for SymInt") if symint else _meaning(argument, old, new, forward=argument not in inputs)
        detail: dict[str, object] = {"arg": argument, "key": dispatch, **({"only": "symint spelling"} if symint else {})}
        yield Change("derivative-formula-changed", level, now.name, reason, old, new, detail, places,
                     fold="formulas respelled for SymInt" if symint else "")


def _meaning(argument: str, old: str | None, new: str | None, *, forward: bool) -> tuple[Level, str]:
    """A key that is no argument is a result: its formula is of forward mode (tools/autograd/load_derivatives.py)."""
    what = f"the forward-mode derivative of {argument}" if forward else f"the gradient of {argument}"
    if old is None:
        return Level.INFO, f"{what} is new"
    if new is None:
        return Level.MAYBE, f"{what} is gone"
    return Level.MAYBE, f"{what} is computed otherwise"
