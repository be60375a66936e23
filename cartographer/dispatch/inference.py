# SPDX-License-Identifier: BSD-3-Clause
"""The schema that PyTorch infers from a function's C++ type (aten/src/ATen/core/op_registration/infer_schema.h,
aten/src/ATen/core/jit_type.h: getTypePtr).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.model.fact import Definition, FileFacts

_PLAIN = {
    "Tensor": "Tensor", "int64_t": "int", "SymInt": "SymInt", "double": "float", "bool": "bool", "string": "str", "string_view": "str",
    "Scalar": "Scalar", "IntArrayRef": "int[]", "SymIntArrayRef": "SymInt[]", "TensorList": "Tensor[]", "Generator": "Generator",
    "ScalarType": "ScalarType", "Device": "Device", "Layout": "Layout", "MemoryFormat": "MemoryFormat",
    "OptionalIntArrayRef": "int[]?", "OptionalSymIntArrayRef": "SymInt[]?",
}  # fmt: skip
_LISTS = frozenset({"vector", "ArrayRef", "List", "ITensorListRef"})
_OPTIONALS = frozenset({"optional"})


def inferred_schema(name: str, function: str, place_path: str, facts: Mapping[str, FileFacts]) -> str | None:
    """`name(Tensor _0, int _1) -> Tensor _0`, or None when the function or a type of it cannot be told."""
    found = _definition(function, place_path, facts)
    if found is None or found.template:
        return None
    arguments: list[str] = []
    for number, parameter in enumerate(p for p in found.parameters if p not in ("", "void")):
        typed = schema_type(re.sub(r"\s*=.*", "", parameter, flags=re.DOTALL), named=True)
        if typed is None:
            return None
        arguments.append(f"{typed} _{number}")
    returns = _returns(found.returns)
    return None if returns is None else f"{name}({', '.join(arguments)}) -> {returns}"


def _definition(function: str, path: str, facts: Mapping[str, FileFacts]) -> Definition | None:
    wanted = [part for part in function.split("::") if part]

    def candidates(paths: Iterable[str]) -> list[Definition]:
        found = []
        for at in paths:
            for definition in facts[at].definitions if at in facts else ():
                parts = [p for p in definition.qualname.split("::") if p and not p.startswith("(")]
                if definition.kind == "function" and definition.name == wanted[-1] and parts == wanted:
                    found.append(definition)
        return found

    if not wanted:
        return None
    found = candidates([path]) or candidates(p for p in facts if p.endswith((".cpp", ".cc")))
    shapes = {(d.parameters, d.returns) for d in found}
    return found[0] if len(shapes) == 1 else None


def _returns(text: str) -> str | None:
    text = re.sub(r"\b(?:static|inline|const|TORCH_API|constexpr)\b", "", text).strip()
    if text in ("void", ""):
        return "()" if text else None
    inner = _template(text, {"tuple"})
    if inner is None:
        typed = schema_type(text, named=False)
        return None if typed is None else f"{typed} _0"
    parts = [schema_type(part, named=False) for part in _split(inner)]
    if None in parts:
        return None
    return "(" + ", ".join(f"{p} _{n}" for n, p in enumerate(parts)) + ")"


def schema_type(text: str, *, named: bool) -> str | None:
    """A C++ type as a schema writes it; `named` when a parameter's name stands behind it."""
    text = re.sub(r"\b(?:const|struct|class)\b|&", " ", text).strip()
    if named:
        text = re.sub(r"(?<=[\s>])\w+\Z", "", text).strip() or text
    inner = _template(text, _LISTS | _OPTIONALS)
    if inner is not None:
        element = schema_type(inner, named=False)
        mark = "?" if re.match(r"(?:\w+::)*optional\b", text) else "[]"
        return None if element is None else element + mark
    return _PLAIN.get(re.sub(r"\A(?:::)?(?:\w+::)*", "", text))


def _template(text: str, names: frozenset[str] | set[str]) -> str | None:
    found = re.match(r"(?:::)?(?:\w+::)*(\w+)\s*<(.*)>\Z", text.strip(), re.DOTALL)
    return found.group(2) if found is not None and found.group(1) in names else None


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]
