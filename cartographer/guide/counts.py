# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of the guide, counted in the atlas at hand, each with how it was counted."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from cartographer.model.schema import FunctionSchema, SchemaError

if TYPE_CHECKING:
    from cartographer.model.operator import Operator
    from cartographer.store.reader import Reader


def count(reader: Reader, name: str) -> tuple[int | None, str]:
    """(the value, its receipt); (None, "") for a count that nobody knows.

    `registrations_KEY` and `tag_NAME` count operators by a dispatch key's registration and by a tag.
    """
    for known in reader.info().counts:
        if known.name == name:
            return known.value, f"{known.says}: {known.receipt}"
    kind, _, argument = name.partition("_")
    if kind == "registrations" and argument:
        number = sum(argument in row.keys or (argument == "python" and "Meta" in row.keys) for row in reader.operator_rows())
        return number, f"operators with a registration for {argument}"
    if kind == "tag" and argument:
        return sum(argument in row.tags for row in reader.operator_rows()), f"operators tagged {argument}"
    rule = _RULES.get(name)
    return rule(reader) if rule else (None, "")


def _aliasing(reader: Reader) -> tuple[int, str]:
    found = _schemas(reader)
    number = sum(any(r.aliases and not r.is_write for r in schema.returns) for schema in found)
    return number, "operators whose schema returns an alias of an argument that it does not write to"


def _mutating(reader: Reader) -> tuple[int, str]:
    return sum(any(a.is_write for a in schema.arguments) for schema in _schemas(reader)), "operators whose schema writes to an argument, out= included"


def _schemas(reader: Reader) -> list[FunctionSchema]:
    out = []
    for row in reader.operator_rows():
        with suppress(SchemaError):  # one that cannot be parsed is counted nowhere; it stands among the unresolved
            out.append(FunctionSchema.parse(row.schema))
    return out


def _saving(reader: Reader) -> tuple[int, str]:
    return sum(_saves(op) for op in reader.operators()), "operators whose derivative saves an argument or a result"


def _saves(op: Operator) -> bool:
    return bool(op.autograd and op.autograd.saved)


def _derivatives(reader: Reader) -> tuple[int, str]:
    listed = reader.oplist()
    rows = {(r.derivative.path, r.derivative.line) for r in listed.rows.values() if r.derivative} if listed else set()
    return len(rows), "rows of derivatives.yaml that belong to an operator of the list"


def _lines_yaml(reader: Reader) -> tuple[int, str]:
    listed = reader.oplist()
    last = max((row.line for row in listed.rows.values()), default=0) if listed else 0
    return last, "the line of the last operator in native_functions.yaml"


def _files_python(reader: Reader) -> tuple[int, str]:
    return sum(row.language == "Python" for row in reader.files()), "Python files read"


def _with_node(reader: Reader) -> tuple[int, str]:
    return reader.info().count("with_node"), "operators with an autograd Node"


_RULES = {
    "ops_aliasing": _aliasing, "ops_mutating": _mutating, "ops_saving": _saving, "derivative_rows": _derivatives,
    "lines_yaml": _lines_yaml, "files_python": _files_python, "ops_with_node": _with_node,
}  # fmt: skip
