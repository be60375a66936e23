# SPDX-License-Identifier: BSD-3-Clause
"""Makes the operator list of a release from its declarations and the operators that torchgen adds."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from cartographer.model.oplist import DerivativeRow, OperatorList, OperatorRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.codegen.function import Function
    from cartographer.model.declaration import Declarations, Derivative, NativeFunction
    from cartographer.model.oplist import Advice
    from cartographer.model.source import SourceInfo

# Alias keys by their names of today (c10/core/DispatchKey.h): a catch-all of 1.7 and before became Math in 1.8,
# then CompositeImplicitAutograd; DefaultBackend became CompositeExplicitAutograd.
_KEY_OF_TODAY = {
    "CatchAll": "CompositeImplicitAutograd",
    "Math": "CompositeImplicitAutograd",
    "DefaultBackend": "CompositeExplicitAutograd",
}
# torchgen/model.py (NativeFunction.from_yaml) puts the first tag on every operator of aten, `out` and `inplace` on what is
# such by its schema: they say nothing of the one. `generated` torchgen/native_function_generation.py puts on what it adds.
_TAGS_OF_ALL = frozenset({"pt2_compliant_tag", "generated", "out", "inplace"})
_TRUE_FLAGS = ("manual_cpp_binding", "manual_kernel_registration", "use_const_ref_for_mutable_tensors")


def operator_list(
    info: SourceInfo, declarations: Declarations, added: Iterable[Function], python: Mapping[str, tuple[str, ...]],
    advice: Mapping[str, tuple[Advice, ...]] | None = None, written: Mapping[str, tuple[str, int]] | None = None,
) -> OperatorList:
    """The operator list of one release: the rows of the yaml files and the operators that torchgen adds. `python`: the Python names of each."""
    derivatives = {d.name.full: _derivative(d) for d in declarations.derivatives}
    rows: dict[str, OperatorRow] = {}
    for declared in declarations.functions:
        name = declared.name.full
        row = _declared(declared, derivatives.get(name), python.get(name))
        if (namesake := rows.get(name)) is not None:
            row = dataclasses.replace(row, namesakes=(*namesake.namesakes, namesake.schema))
        rows[name] = row
    for function in added:
        row = _added(function, python.get(function.schema.name.full))
        rows.setdefault(row.name, row)
    return OperatorList(info.version, info.tag, info.commit, info.web, dict(sorted(rows.items())), advice or {}, written or {})


def _declared(function: NativeFunction, derivative: DerivativeRow | None, python: tuple[str, ...] | None) -> OperatorRow:
    implied = function.dispatch is None and not function.in_structured_group
    dispatch = {e.key: e.kernel for e in function.dispatch or ()}
    if implied:
        base = function.name.base
        dispatch = {"CompositeImplicitAutograd": f"{base}_out" if function.schema.out else base}
    flags = {key: "True" for key in _TRUE_FLAGS if getattr(function, key)}
    if not function.device_guard:
        flags["device_guard"] = "False"
    for key in ("device_check", "category_override"):
        if (value := getattr(function, key)) is not None:
            flags[key] = value
    for key in ("precomputed", "cpp_no_default_args"):
        if value := getattr(function, key):
            flags[key] = "; ".join(value)
    if function.ufunc_inner_loop:
        flags["ufunc_inner_loop"] = "; ".join(f"{u.key}: {u.name} ({', '.join(u.dtypes)})" for u in function.ufunc_inner_loop)
    return OperatorRow(
        name=function.name.full, schema=as_torch_prints(str(function.schema)), path=function.place.path, line=function.place.line,
        variants=tuple(sorted(function.variants)), python_module=function.python_module or "",
        tags=tuple(sorted(set(function.tags) - _TAGS_OF_ALL)), dispatch=_today(dispatch), implied=implied,
        structured=function.structured, structured_delegate=function.structured_delegate or "",
        structured_inherits=function.structured_inherits or "", autogen=tuple(sorted(str(n) for n in function.autogen)),
        flags={**flags, **function.other}, derivative=derivative, python=python,
    )


# Releases before 1.1 wrote C++ types into the list; torch printed those that TYPE_MAP of tools/jit/gen_jit_dispatch.py gives.
_OF_CPP = {
    "int64_t": "int", "double": "float", "IntList": "int[]", "TensorList": "Tensor[]", "std::string": "str", "IndexTensor": "Tensor",
    "BoolTensor": "Tensor", "Generator*": "Generator?", "false": "False", "true": "True", "nullptr": "None", "{}": "None",
}  # fmt: skip
_CPP = re.compile(
    r"std::array<bool,(?P<count>\d)>|\bIntList\[(?P<ints>\d+)\]|=\{(?P<list>[^{}]+)\}|=Reduction::(?P<reduction>\w+)"
    r"|(?<=[ (])(?:int64_t|double|IntList|TensorList|std::string|IndexTensor|BoolTensor|Generator\*)(?=[ ?,)]|$)|(?<==)(?:false|true|nullptr|\{\})(?=[,)])")


def as_torch_prints(schema: str) -> str:
    """A schema of the first releases with its C++ types as torch prints them; any other schema as it is."""

    def today(found: re.Match[str]) -> str:
        if count := found["count"]:
            return f"bool[{count}]"
        if count := found["ints"]:
            return f"int[{count}]"
        if found["list"]:
            return f"=[{found['list']}]"
        return f"={found['reduction']}" if found["reduction"] else _OF_CPP[found[0]]

    return _CPP.sub(today, schema)


def _today(dispatch: Mapping[str, str]) -> dict[str, str]:
    return {_KEY_OF_TODAY.get(key, key): kernel for key, kernel in dispatch.items()}


def _added(function: Function, python: tuple[str, ...] | None) -> OperatorRow:
    """An operator of torchgen's: its kernel stands in generated code, under one composite key."""
    place = function.row.place
    return OperatorRow(
        name=function.schema.name.full, schema=str(function.schema), path=place.path, line=place.line, generated=True,
        variants=tuple(sorted(function.variants)), tags=tuple(sorted(function.tags - _TAGS_OF_ALL)),
        dispatch=_today({key: kernel.name for key, kernel in function.kernels.items()}), python=python,
    )


def _derivative(row: Derivative) -> DerivativeRow:
    formulas = {
        f"{part.key} {name}": formula.text for part in row.sets for formula in part.formulas for name in formula.names
    }
    other = dict(row.other)
    if row.output_differentiability is not None:
        other["output_differentiability"] = ", ".join(str(value) for value in row.output_differentiability)
    return DerivativeRow(row.place.path, row.place.line, formulas, other)
