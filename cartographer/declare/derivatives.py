# SPDX-License-Identifier: BSD-3-Clause
"""Reads derivatives.yaml: how operators differentiate, row by row (tools/autograd/load_derivatives.py)."""

from __future__ import annotations

from cartographer.declare.native_functions import parse_schema
from cartographer.declare.yaml_lines import Entry, Mapping, Scalar, Sequence, YamlFile, gathered
from cartographer.errors import DeclarationError
from cartographer.model.declaration import Derivative, DerivativeFormula, DerivativeSet
from cartographer.model.location import Location

PATH = "tools/autograd/derivatives.yaml"

_OF_THE_ROW = frozenset(("name", "dispatch", "output_differentiability"))


def load(data: bytes, path: str = PATH) -> tuple[Derivative, ...]:
    """The rows of derivatives.yaml. The errors of all bad rows are reported together."""
    file = YamlFile(path, data)
    rows: list[Derivative] = []
    errors: list[DeclarationError] = []
    for row in file.rows():
        try:
            rows.append(_derivative(file, row))
        except DeclarationError as error:
            errors.append(error)
    if errors:
        raise gathered(errors, path)
    return tuple(rows)


def _derivative(file: YamlFile, row: Mapping) -> Derivative:
    schema = parse_schema(file, row, "name")
    inputs = frozenset(a.name for a in schema.arguments)
    sets: list[DerivativeSet] = []
    dispatch = row.entries.get("dispatch")
    if dispatch is None:
        formulas = tuple(_formula(file, e, inputs) for e in row.entries.values() if e.key not in _OF_THE_ROW)
        sets.append(DerivativeSet("Default", formulas, Location(file.path, row.line)))
    else:
        if not isinstance(dispatch.value, Mapping):
            raise file.error("'dispatch' must map autograd keys to formulas", dispatch.line, dispatch.column)
        for key in dispatch.value.entries.values():
            lines = key.value.entries.values() if isinstance(key.value, Mapping) else ()
            formulas = tuple(_formula(file, e, inputs) for e in lines)
            sets.append(DerivativeSet(key.key, formulas, Location(file.path, key.line)))
    return Derivative(
        schema=schema,
        place=Location(file.path, row.line, row.end_line),
        sets=tuple(sets),
        output_differentiability=_differentiability(file, row.entries.get("output_differentiability")),
        lines={key: entry.line for key, entry in row.entries.items()},
    )


def _formula(file: YamlFile, entry: Entry, inputs: frozenset[str]) -> DerivativeFormula:
    """A key whose first name is no argument is forward-mode (is_forward_derivative_definition)."""
    names = tuple(part.strip() for part in entry.key.split(","))
    text = file.text(entry)
    return DerivativeFormula(names, text, Location(file.path, entry.line, entry.value.end_line), names[0] not in inputs)


def _differentiability(file: YamlFile, entry: Entry | None) -> tuple[bool | str, ...] | None:
    """A list of True and False, or of one condition in C++."""
    if entry is None:
        return None
    if not isinstance(entry.value, Sequence):
        raise file.error("'output_differentiability' must be a list", entry.value.line, entry.value.column)
    found: list[bool | str] = []
    for item in entry.value.items:
        if not isinstance(item, Scalar):
            raise file.error("True, False or a condition is expected", item.line, item.column)
        found.append({"true": True, "false": False}.get(item.text.lower(), item.text))
    return tuple(found)
