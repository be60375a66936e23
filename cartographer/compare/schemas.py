# SPDX-License-Identifier: BSD-3-Clause
"""Compares two schemas of one operator: arguments, defaults, returns, alias sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.compare.verdict import is_subtype, same_default
from cartographer.model.schema import FunctionSchema, SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cartographer.model.schema import Argument, Return

SCHEMA_IDS = frozenset((
    "arg-added-default", "arg-added-no-default", "arg-removed", "arg-renamed", "arg-retyped", "arg-reordered", "default-added",
    "default-removed", "default-changed", "arg-made-kwonly", "arg-made-positional", "return-count-changed", "return-type-changed",
    "return-renamed", "alias-changed",
))


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One difference between two schemas: its id, the old and the new text, and a sentence about it."""

    id: str
    old: str | None
    new: str | None
    says: str
    detail: Mapping[str, object] = field(default_factory=dict)
    harmless: bool = False  # no caller can notice it, whatever else changes


@lru_cache(maxsize=1 << 14)
def parsed(schema: str) -> FunctionSchema | None:
    """The parsed schema of a row; None for an ancient one that cannot be parsed."""
    try:
        return FunctionSchema.parse(schema)
    except SchemaError:
        return None


def argument_names(schema: str) -> frozenset[str]:
    """The names of a schema's arguments; none for a schema that cannot be parsed."""
    whole = parsed(schema)
    return frozenset(argument.name for argument in whole.arguments) if whole is not None else frozenset()


def compare_schemas(old: FunctionSchema, new: FunctionSchema) -> tuple[SchemaChange, ...]:
    """All differences between two schemas, those of arguments first."""
    return (*_arguments(old, new), *_returns(old, new))


def _group(argument: Argument) -> str:
    return "out" if argument.is_out else "kwonly" if argument.kwarg_only else "positional"


def _arguments(old: FunctionSchema, new: FunctionSchema) -> Iterator[SchemaChange]:
    was = {a.name: a for a in old.arguments}
    now = {a.name: a for a in new.arguments}
    renamed = _renamed(old, new)
    for name, new_name in renamed.items():
        yield SchemaChange("arg-renamed", name, new_name, f"{name} is now called {new_name}", {"arg": name, "type": was[name].type})
        yield from _one(was[name], now[new_name])
    for name, argument in was.items():
        if name in now:
            yield from _one(argument, now[name])
        elif name not in renamed:
            yield SchemaChange("arg-removed", str(argument), None, f"{name} is gone", {"arg": name, "group": _group(argument)})
    for index, argument in enumerate(new.arguments):
        if argument.name not in was and argument.name not in renamed.values():
            kind = "arg-added-no-default" if argument.default is None else "arg-added-default"
            yield SchemaChange(kind, None, str(argument), f"{argument.name} is new", {
                "arg": argument.name, "group": _group(argument), "index": index,
                "shifts_positional": not argument.kwarg_only and any(a.name in was and not a.kwarg_only for a in new.arguments[index + 1:]),
            })
    common_old = [a.name for a in old.arguments if a.name in now]
    common_new = [a.name for a in new.arguments if a.name in was]
    if common_old != common_new:
        yield SchemaChange("arg-reordered", ", ".join(common_old), ", ".join(common_new), "the arguments stand in another order")


def _renamed(old: FunctionSchema, new: FunctionSchema) -> dict[str, str]:
    """Old name -> new name of arguments at the same place with the same type."""
    names_old, names_new = {a.name for a in old.arguments}, {a.name for a in new.arguments}
    return {
        was.name: now.name
        for was, now in zip(old.arguments, new.arguments, strict=False)
        if was.name not in names_new and now.name not in names_old and was.type == now.type and _group(was) == _group(now)
    }


def _one(was: Argument, now: Argument) -> Iterator[SchemaChange]:
    where: dict[str, object] = {"arg": now.name}
    if was.type != now.type:
        symint = was.type.replace("SymInt", "int") == now.type.replace("SymInt", "int")
        detail = where | ({"only": "int<->SymInt"} if symint else {})
        wider = "accepts all that it did" if is_subtype(was.type, now.type) else "does not accept all that it did"
        yield SchemaChange("arg-retyped", was.type, now.type, f"{now.name} is {now.type}, it was {was.type}: {wider}", detail, symint)
    if was.default is None and now.default is not None:
        yield SchemaChange("default-added", None, now.default, f"{now.name} can be left out", where)
    elif was.default is not None and now.default is None:
        yield SchemaChange("default-removed", was.default, None, f"{now.name} must be given", where)
    elif was.default != now.default and not same_default(now, was):
        says = f"callers that leave {now.name} out get {now.default}, they got {was.default}"
        yield SchemaChange("default-changed", was.default, now.default, says, where)
    if now.kwarg_only and not was.kwarg_only:
        yield SchemaChange("arg-made-kwonly", str(was), str(now), f"{now.name} can be given by name only", where)
    elif was.kwarg_only and not now.kwarg_only:
        yield SchemaChange("arg-made-positional", str(was), str(now), f"{now.name} can be given by position too", where)
    yield from _alias(was, now, "argument")


def _alias(was: Argument | Return, now: Argument | Return, where: str) -> Iterator[SchemaChange]:
    before, after = (", ".join(str(alias) for _, alias in value.aliases) or None for value in (was, now))
    if before != after:
        says = "is written to" if now.is_write and not was.is_write else f"aliases {after or 'nothing'}, it did {before or 'nothing'}"
        yield SchemaChange("alias-changed", before, after, f"{now.name or 'the result'} {says}", {"arg": now.name, "where": where})


def _returns(old: FunctionSchema, new: FunctionSchema) -> Iterator[SchemaChange]:
    if len(old.returns) != len(new.returns):
        before, after = (", ".join(r.type_text for r in schema.returns) for schema in (old, new))
        yield SchemaChange("return-count-changed", before, after, f"{len(new.returns)} values instead of {len(old.returns)}")
        return
    for index, (was, now) in enumerate(zip(old.returns, new.returns, strict=True)):
        where = {"index": index}
        if was.type != now.type:
            yield SchemaChange("return-type-changed", was.type, now.type, f"returns {now.type}, it was {was.type}", where)
        if was.name != now.name:
            yield SchemaChange("return-renamed", was.name or None, now.name or None, f"value {index} is called {now.name or 'nothing'}", where)
        yield from _alias(was, now, "return")
