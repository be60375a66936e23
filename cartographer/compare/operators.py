# SPDX-License-Identifier: BSD-3-Clause
"""Compares two operator lists. Operators are matched by full name, with in-place underscore and overload."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cartographer.compare.context import in_context
from cartographer.compare.derivatives import derivative_changes
from cartographer.compare.registrations import registration_changes
from cartographer.compare.schemas import compare_schemas
from cartographer.compare.successors import Successors
from cartographer.compare.verdict import why_not
from cartographer.model.change import Change, ChangePlace, Comparison, Level
from cartographer.model.schema import FunctionSchema, SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.model.oplist import OperatorList, OperatorRow


def compare(old: OperatorList, new: OperatorList) -> Comparison:
    """All changes from `old` to `new`, breaks first, then by operator."""
    bases_old, bases_new = _bases(old), _bases(new)
    successors = Successors(old, new)
    changes: list[Change] = []
    for name in sorted(old.rows.keys() | new.rows.keys()):
        was, now = old.rows.get(name), new.rows.get(name)
        if was is None and now is not None:
            changes.append(_added(now, _base(name) in bases_old))
        elif now is None and was is not None:
            changes.append(_removed(was, _base(name) in bases_new, successors, new))
        elif was is not None and now is not None:
            changes += _changed(was, now, old, new)
    return in_order(Comparison(old.version, new.version, in_context(changes, old, new), (), _web(old), _web(new)))


def in_order(comparison: Comparison) -> Comparison:
    """Sort changes: breaks first, then by operator and kind."""
    return replace(comparison, changes=tuple(sorted(comparison.changes, key=lambda c: (-c.level, c.op, c.id))))


def _web(side: OperatorList) -> str:
    return f"{side.web}/blob/{side.commit or side.tag}"


def _base(name: str) -> str:
    return name.partition(".")[0]


def _bases(side: OperatorList) -> frozenset[str]:
    return frozenset(_base(name) for name in side.rows)


def _place(side: str, row: OperatorRow) -> ChangePlace:
    return ChangePlace(side, row.path, row.line)


def _added(row: OperatorRow, known: bool) -> Change:
    return Change(
        "overload-added" if known else "op-added", Level.INFO, row.name, "a new overload" if known else "a new operator",
        new=row.schema, places=(_place("new", row),), generated=row.generated,
    )


def _removed(row: OperatorRow, known: bool, successors: Successors, new: OperatorList) -> Change:
    successor = successors.find(row)
    reason = f"gone; {successor.says}" if successor else "gone; no successor found"
    if stays := [(name, *new.written[name]) for name in row.python or () if name in new.written]:
        reason += "; " + ", ".join(f"{name} is written in Python ({path}:{line})" for name, path, line in stays)
    detail: dict[str, object] = {"successor": successor.name, "evidence": successor.evidence} if successor else {"successor": None}
    return Change(
        "overload-removed" if known else "op-removed", Level.BREAK, row.name, reason, old=row.schema, detail=detail,
        places=(_place("old", row),), generated=row.generated,
    )


def _changed(was: OperatorRow, now: OperatorRow, old: OperatorList, new: OperatorList) -> Iterator[Change]:
    places = (_place("old", was), _place("new", now))

    def change(id_: str, level: Level, reason: str, before: str | None, after: str | None, **more: object) -> Change:
        fold = str(more.pop("fold", ""))
        return Change(id_, level, now.name, reason, before, after, more, places, now.generated and was.generated, fold=fold)

    yield from _schema_changes(was, now, places)
    for word, before, after in (("variants", was.variants, now.variants), ("tags", was.tags, now.tags)):
        gained, lost = sorted(set(after) - set(before)), sorted(set(before) - set(after))
        if gained or lost:
            breaks = word == "variants" and bool(lost)
            reason = f"lost {', '.join(lost)}" if lost else f"gained {', '.join(gained)}"
            level = Level.BREAK if breaks else Level.INFO
            yield change(f"{word}-changed", level, reason, ", ".join(before), ", ".join(after), gained=gained, lost=lost)
    if was.python_module != now.python_module:
        reason = f"its Python name moves from {_module(was)} to {_module(now)}"
        yield change("python-module-changed", Level.BREAK, reason, was.python_module, now.python_module)
    yield from registration_changes(was, now, old, new, change)
    yield from derivative_changes(was, now)
    for key in sorted(was.flags.keys() | now.flags.keys()):
        if (before_flag := was.flags.get(key)) != (after_flag := now.flags.get(key)):
            yield change("flag-changed", Level.INFO, f"{key} changed", before_flag, after_flag, flag=key)
    if was.generated != now.generated:
        words = ("torchgen makes it now", "it is written by hand now")
        yield change("generated-changed", Level.INFO, words[was.generated], str(was.generated), str(now.generated))


def _module(row: OperatorRow) -> str:
    return f"torch._C._{row.python_module}" if row.python_module else "torch"


def _schema_changes(was: OperatorRow, now: OperatorRow, places: tuple[ChangePlace, ...]) -> Iterator[Change]:
    if was.schema == now.schema:
        return
    try:
        before, after = FunctionSchema.parse(was.schema), FunctionSchema.parse(now.schema)
    except SchemaError:  # an ancient row: the texts differ, more cannot be said
        yield Change("schema-changed", Level.MAYBE, now.name, "a schema that cannot be read", was.schema, now.schema, {}, places)
        return
    reason = why_not(after, before)
    found = compare_schemas(before, after)
    for part in found:
        level, says, fold = _level(part.harmless, reason, part.says, part.id)
        yield Change(part.id, level, now.name, says, part.old, part.new, {**part.detail, "schema": [was.schema, now.schema], **({"pytorch": reason} if reason else {})},
                     places, now.generated, fold=fold)


def _level(harmless: bool, reason: str | None, says: str, id_: str) -> tuple[Level, str, str]:
    """A change breaks when PyTorch calls the new schema not backward compatible and this change takes part in it."""
    if harmless:
        return Level.MAYBE, f"{says}; C++ kernels registered for it need the other type", "int respelled as SymInt" if "SymInt" in says else "respelled"
    if reason is not None:
        return Level.BREAK, says, ""
    if id_ in ("arg-added-default", "default-added", "default-changed", "arg-retyped", "alias-changed"):
        return Level.MAYBE, f"{says}; calls go on, overriding subclasses and registered kernels see another signature", ""
    return Level.INFO, says, ""
