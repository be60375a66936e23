# SPDX-License-Identifier: BSD-3-Clause
"""Reads native_functions.yaml, the list of operators. The keys are those that torchgen/model.py (NativeFunction.from_yaml) knows;
older and newer ones are kept as written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.declare.yaml_lines import Entry, Mapping, Scalar, YamlFile, as_written, gathered
from cartographer.errors import DeclarationError
from cartographer.model.declaration import DispatchEntry, NativeFunction, UfuncInnerLoop
from cartographer.model.location import Location
from cartographer.model.schema import FunctionSchema, OperatorName, SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable

PATH = "aten/src/ATen/native/native_functions.yaml"

_UFUNC = re.compile(r"(\S+)\s*\((.*)\)")


def load(data: bytes, path: str = PATH) -> tuple[NativeFunction, ...]:
    """The rows of native_functions.yaml. The errors of all bad rows are reported together."""
    file = YamlFile(path, data)
    functions: list[NativeFunction] = []
    errors: list[DeclarationError] = []
    for row in file.rows():
        try:
            functions.append(_function(file, row))
        except DeclarationError as error:
            errors.append(error)
    if errors:
        raise gathered(errors, path)
    if not functions:
        raise DeclarationError("this file lists no operators", where=path, hint="it may be cut short: bring the source again")
    return tuple(functions)


def parse_schema(file: YamlFile, row: Mapping, key: str) -> FunctionSchema:
    """Parse the schema under a key that a row must have; errors name the row's place."""
    entry = row.entries.get(key)
    if entry is None:
        raise file.error(f"the row has no {key!r}", row.line, row.column)
    try:
        return FunctionSchema.parse(file.text(entry))
    except SchemaError as error:
        raise file.error(error.message, entry.value.line, entry.value.column) from None


def _function(file: YamlFile, row: Mapping) -> NativeFunction:
    values: dict[str, object] = {}
    other: dict[str, str] = {}
    for key, entry in row.entries.items():
        reader = _READERS.get(key)
        if reader is None:
            other[key] = as_written(entry.value)
        elif not (isinstance(entry.value, Scalar) and entry.value.is_null):
            values[key] = reader(file, entry)
    values.pop("func", None)
    return NativeFunction(
        schema=parse_schema(file, row, "func"),
        place=Location(file.path, row.line, row.end_line),
        other=other,
        lines={key: entry.line for key, entry in row.entries.items()},
        **values,  # type: ignore[arg-type]  # the readers below give each key its type
    )


def _dispatch(file: YamlFile, entry: Entry) -> tuple[DispatchEntry, ...]:
    """`CPU, CUDA: f` is two entries. 0.4 has a bare kernel name: one entry with the key `CatchAll`."""
    if isinstance(entry.value, Scalar):
        return (DispatchEntry("CatchAll", entry.value.text, Location(file.path, entry.line)),)
    if not isinstance(entry.value, Mapping):
        raise file.error("'dispatch' must map keys to kernels", entry.value.line, entry.value.column)
    found: list[DispatchEntry] = []
    for line in entry.value.entries.values():
        kernel = file.text(line)
        place = Location(file.path, line.line)
        for part in line.key.split(","):
            key = part.strip()
            if any(e.key == key for e in found):
                raise file.error(f"the dispatch key {key} stands twice", line.line, line.column)
            found.append(DispatchEntry(key, kernel, place, group=line.key))
    return tuple(found)


def _autogen(file: YamlFile, entry: Entry) -> tuple[OperatorName, ...]:
    try:
        return tuple(OperatorName.parse(word) for word in file.words(entry))
    except SchemaError as error:
        raise file.error(error.message, entry.value.line, entry.value.column) from None


def _ufunc(file: YamlFile, entry: Entry) -> tuple[UfuncInnerLoop, ...]:
    """A bare text stands for the key Generic (torchgen/model.py)."""
    value = entry.value
    lines = [Entry("Generic", value, entry.line, entry.column)]
    if isinstance(value, Mapping):
        lines = list(value.entries.values())
    loops = []
    for line in lines:
        found = _UFUNC.fullmatch(file.text(line).strip())
        if found is None:
            raise file.error("a name and types in parentheses are expected", line.line, line.column)
        types = tuple(part.strip() for part in found[2].split(",") if part.strip())
        loops.append(UfuncInnerLoop(line.key, found[1], types, Location(file.path, line.line)))
    return tuple(loops)


_READERS: dict[str, Callable[[YamlFile, Entry], object]] = {
    "func": YamlFile.text,
    "variants": YamlFile.words,
    "dispatch": _dispatch,
    "tags": YamlFile.words,
    "structured": YamlFile.flag,
    "structured_delegate": YamlFile.text,
    "structured_inherits": YamlFile.text,
    "autogen": _autogen,
    "ufunc_inner_loop": _ufunc,
    "precomputed": YamlFile.words,
    "cpp_no_default_args": YamlFile.words,
    "python_module": YamlFile.text,
    "category_override": YamlFile.text,
    "manual_cpp_binding": YamlFile.flag,
    "manual_kernel_registration": YamlFile.flag,
    "use_const_ref_for_mutable_tensors": YamlFile.flag,
    "device_check": YamlFile.text,
    "device_guard": YamlFile.flag,
}
