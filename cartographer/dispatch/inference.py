# SPDX-License-Identifier: BSD-3-Clause
"""Infers an operator's schema from a function's C++ type, as PyTorch does (aten/src/ATen/core/op_registration/infer_schema.h,
aten/src/ATen/core/jit_type.h: getTypePtr).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.scan.text import split_commas

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


_CLASS = re.compile(
    r'TORCH_LIBRARY(?:_FRAGMENT\w*)?\s*\(\s*(?P<block>\w+)'
    r'|\bclass_\s*<\s*(?P<type>[\w:]+)\s*>\s*\w*\s*\(\s*(?:TORCH_SELECTIVE_CLASS\s*\(\s*)?"(?P<first>\w+)"\s*\)?\s*(?:,\s*"(?P<second>\w+)")?'
)


def custom_classes(texts: Iterable[str]) -> dict[str, str]:
    """C++ classes that TorchScript knows, by their last name: `torch::class_<T>("ns", "Name")`, `m.class_<T>("Name")`
    (torch/custom_class.h).
    """
    found: dict[str, str] = {}
    for text in texts:
        if "class_" not in text:
            continue
        namespace = ""
        for use in _CLASS.finditer(text):
            if use.group("block"):
                namespace = use.group("block")
                continue
            space, name = (use.group("first"), use.group("second")) if use.group("second") else (namespace, use.group("first"))
            found[use.group("type").rpartition("::")[2]] = f"__torch__.torch.classes.{space}.{name}"
    return found


def inferred_schema(
    name: str, function: str, place_path: str, facts: Mapping[str, FileFacts], classes: Mapping[str, str] | None = None
) -> str | None:
    """The schema `name(Tensor _0, int _1) -> Tensor _0` of a function; None when its type cannot be told. `classes`: the
    custom classes.
    """
    known = classes or {}
    found = _definition(function, place_path, facts)
    if found is None or found.template:
        return None
    arguments: list[str] = []
    for number, parameter in enumerate(p for p in found.parameters if p not in ("", "void")):
        typed = schema_type(re.sub(r"\s*=.*", "", parameter, flags=re.DOTALL), named=True, classes=known)
        if typed is None:
            return None
        arguments.append(f"{typed} _{number}")
    returns = _returns(found.returns, known)
    return None if returns is None else f"{name}({', '.join(arguments)}) -> {returns}"


def _definition(function: str, path: str, facts: Mapping[str, FileFacts]) -> Definition | None:
    wanted = [part for part in function.split("::") if part]

    def candidates(paths: Iterable[str]) -> list[Definition]:
        found = []
        for at in paths:
            for definition in facts[at].definitions if at in facts else ():
                if definition.name != wanted[-1] or definition.kind != "function":
                    continue
                if [p for p in definition.qualname.split("::") if p and not p.startswith("(")] == wanted:
                    found.append(definition)
        return found

    if not wanted:
        return None
    found = candidates([path]) or candidates(p for p in facts if p.endswith((".cpp", ".cc")))
    shapes = {(d.parameters, d.returns) for d in found}
    return found[0] if len(shapes) == 1 else None


def _returns(text: str, classes: Mapping[str, str]) -> str | None:
    text = re.sub(r"\b(?:static|inline|const|TORCH_API|constexpr)\b", "", text).strip()
    if text in ("void", ""):
        return "()" if text else None
    inner = _template(text, {"tuple"})
    if inner is None:
        typed = schema_type(text, named=False, classes=classes)
        return None if typed is None else f"{typed} _0"
    parts = [schema_type(part, named=False, classes=classes) for part in split_commas(inner, "<(", ">)")]
    if None in parts:
        return None
    return "(" + ", ".join(f"{p} _{n}" for n, p in enumerate(parts)) + ")"


def schema_type(text: str, *, named: bool, classes: Mapping[str, str] | None = None) -> str | None:
    """The schema's spelling of a C++ type; `named` when the text ends with the name of a parameter."""
    known = classes or {}
    text = re.sub(r"\b(?:const|struct|class)\b|&", " ", text).strip()
    if named:
        text = re.sub(r"(?<=[\s>])\w+\Z", "", text).strip() or text
    inner = _template(text, _LISTS | _OPTIONALS)
    if inner is not None:
        element = schema_type(inner, named=False, classes=known)
        mark = "?" if re.match(r"(?:\w+::)*optional\b", text) else "[]"
        return None if element is None else element + mark
    held = _template(text, {"intrusive_ptr"})
    if held is not None:
        return known.get(held.strip().rpartition("::")[2])
    return _PLAIN.get(re.sub(r"\A(?:::)?(?:\w+::)*", "", text))


def _template(text: str, names: frozenset[str] | set[str]) -> str | None:
    found = re.match(r"(?:::)?(?:\w+::)*(\w+)\s*<(.*)>\Z", text.strip(), re.DOTALL)
    return found.group(2) if found is not None and found.group(1) in names else None
