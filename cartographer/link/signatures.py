# SPDX-License-Identifier: BSD-3-Clause
"""Compares C++ parameter lists with operator schemas and with arguments, to find the overload that is meant.

The rules are those of torchgen/api/cpp.py, native.py and structured.py: one schema type has one C++ class of types
(by value or reference, symbolic or not, old spelling or new). Types are compared by that class.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.model.schema import FunctionSchema, SchemaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.model.fact import Definition

ANY = "?"  # a type that we do not know: it fits everything, a little
_QUALIFIERS = re.compile(r"\b(const|volatile|struct|class|typename|at|c10|std|torch|caffe2|native|__restrict__|constexpr|unused)\b|[&*]|::|\[\[\w+\]\]")
_DEFAULT = re.compile(r"\s*=(?!=).*$", re.DOTALL)
_OPTIONAL = re.compile(r"^(?:optional|OptionalRef)<(.*)>$")
_PLAIN = {
    "Tensor": "Tensor", "OptionalTensorRef": "Tensor?", "TensorBase": "Tensor", "MaybeOwned<Tensor>": "Tensor",
    "TensorList": "Tensor[]", "ITensorListRef": "Tensor[]", "ArrayRef<Tensor>": "Tensor[]", "MaterializedITensorListRef": "Tensor[]",
    "vector<Tensor>": "Tensor[]", "List<Tensor>": "Tensor[]", "List<optional<Tensor>>": "Tensor?[]", "IOptTensorListRef": "Tensor?[]",
    "int64_t": "int", "SymInt": "int", "int": "int", "long": "int", "size_t": "int", "uint64_t": "int",
    "IntArrayRef": "int[]", "SymIntArrayRef": "int[]", "IntList": "int[]", "ArrayRef<int64_t>": "int[]", "vector<int64_t>": "int[]",
    "DimVector": "int[]", "SymDimVector": "int[]", "vector<SymInt>": "int[]", "ArrayRef<SymInt>": "int[]",
    "OptionalIntArrayRef": "int[]?", "OptionalSymIntArrayRef": "int[]?", "OptionalArrayRef<int64_t>": "int[]?",
    "OptionalArrayRef<SymInt>": "int[]?",
    "double": "float", "float": "float", "SymFloat": "float", "bool": "bool", "SymBool": "bool", "Scalar": "Scalar",
    "ArrayRef<double>": "float[]", "vector<double>": "float[]", "ArrayRef<Scalar>": "Scalar[]",
    "OptionalArrayRef<double>": "float[]?",
    "ScalarType": "ScalarType", "Layout": "Layout", "Device": "Device", "DeviceIndex": "DeviceIndex", "MemoryFormat": "MemoryFormat",
    "TypeMeta": "ScalarType",
    "string_view": "str", "string": "str", "char": "str", "ArrayRef<string_view>": "str[]", "List<string>": "str[]",
    "Dimname": "Dimname", "DimnameList": "Dimname[]", "ArrayRef<Dimname>": "Dimname[]", "vector<Dimname>": "Dimname[]",
    "Generator": "Generator?", "optional<Generator>": "Generator?", "CPUGenerator": "Generator?",
    "Storage": "Storage", "Stream": "Stream", "QScheme": "QScheme", "TensorOptions": "TensorOptions",
    "IValue": "Any", "ConstQuantizerPtr": "ConstQuantizerPtr", "ArrayRef<bool>": "bool[]", "ArrayRef<ScalarType>": "ScalarType[]",
    "Type": "Type", "SparseTensor": "Tensor", "SparseTensorRef": "Tensor", "QTensor": "Tensor",
}  # fmt: skip
_SCHEMA_PLAIN = {
    "SymInt": "int", "int": "int", "float": "float", "complex": "Scalar", "IntList": "int[]", "TensorList": "Tensor[]", "IndexTensor": "Tensor",
    "BoolTensor": "Tensor", "Generator": "Generator?", "Generator*": "Generator?", "int64_t": "int", "double": "float", "DimnameList": "Dimname[]",
}  # fmt: skip
_ARRAY = re.compile(r"\[\d*\]$")
_COMMENT = re.compile(r"/\*.*?\*/")
_LAST_WORD = re.compile(r"[&*]*\w+(\[\])?")
_NAME_AFTER_SIGN = re.compile(r"^(.*[&*>])\w+$")
_ANNOTATION = re.compile(r"\([^)]*\)")
_MACRO = re.compile(r"[A-Z][A-Z0-9_]+(\(.*\))?")


def type_text(parameter: str) -> str:
    """The type of a C++ parameter, without its name and default: `const std::optional<Tensor>& weight_opt = {}` -> `const std::optional<Tensor>&`."""
    text = _DEFAULT.sub("", _COMMENT.sub("", parameter)).strip()
    if "<" not in text or text.rfind(">") < len(text) - 1:
        head, _, last = text.rpartition(" ")
        if head and _LAST_WORD.fullmatch(last) and head.strip(" &*") not in ("const", ""):
            text = head + " " + "".join(c for c in last if c in "&*")
        elif not head:
            moved = _NAME_AFTER_SIGN.match(text)
            text = moved[1] if moved else text
    return text.rstrip()


@lru_cache(maxsize=65536)
def parameter_type(parameter: str) -> str:
    """The class of a C++ parameter's type: `const std::optional<Tensor>& weight_opt` -> `Tensor?`."""
    text = type_text(parameter)
    if text.endswith("*") and "char" not in text and "Generator" not in text:
        return "pointer"
    return _class_of("".join(_QUALIFIERS.sub(" ", text).split()))


def _class_of(text: str) -> str:
    if text in _PLAIN:
        return _PLAIN[text]
    inner = _OPTIONAL.match(text)
    if inner:
        found = _class_of(inner[1])
        return found if found.endswith("?") and found != ANY else (found + "?" if found != ANY else ANY)
    if text.startswith("array<"):
        return _class_of(text[6:].partition(",")[0]) + "[]"
    if text.startswith("intrusive_ptr<"):
        return text[14:].rstrip(">")
    return ANY


@lru_cache(maxsize=16384)
def schema_of(text: str) -> FunctionSchema | None:
    """The parsed schema of an operator; None when it cannot be read: an operator that C++ registers by name alone has none."""
    try:
        return FunctionSchema.parse(text)
    except SchemaError:
        return None


@lru_cache(maxsize=16384)
def schema_type(text: str) -> str:
    """The class of a schema's type: `SymInt[2]?` -> `int[]?`, `Tensor(a!)[]` -> `Tensor[]`."""
    text = _ANNOTATION.sub("", text).replace(" ", "")
    optional = text.endswith("?")
    if optional:
        text = text[:-1]
    array = _ARRAY.search(text)
    if array:
        text = text[: array.start()]
    element = schema_type(text) if array else _SCHEMA_PLAIN.get(text, text)
    if text.startswith("std::array<"):
        element, array = schema_type(text[11:].partition(",")[0]), True  # type: ignore[assignment]
    found = element + ("[]" if array else "")
    return found if found.endswith("?") and optional else found + ("?" if optional else "")


@lru_cache(maxsize=16384)
def fit(parameters: tuple[str, ...], wanted: tuple[str, ...]) -> int:
    """How well a C++ parameter list takes the classes of types in `wanted`, in that order: -1 not at all, else the more the better."""
    own = [parameter_type(p) for p in parameters if p.strip() not in ("", "void")]
    if any(p.rstrip().endswith("...") for p in parameters):
        return 0
    own, expected = _merge_options(own, wanted)
    if len(own) != len(expected):
        return -1
    score = 0
    for mine, theirs in zip(own, expected, strict=True):
        if mine == theirs:
            score += 4
        elif ANY in (mine, theirs):
            score += 1
        elif (mine, theirs) in (("Dimname", "str"), ("Dimname[]", "str[]"), ("Dimname[]?", "str[]?")):
            score += 4  # torch prints dimension names as strings
        elif mine.rstrip("?") == theirs.rstrip("?"):
            score += 3  # an optional taken as a plain value, as before 1.8 (Tensor for Tensor?)
        elif {mine.rstrip("?"), theirs.rstrip("?")} in ({"int", "Scalar"}, {"int", "int[]"}, {"float", "Scalar"}):
            score += 1
        else:
            return -1
    return score


_OPTIONS = ("ScalarType", "Layout", "Device", "bool")


def _merge_options(own: list[str], wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """Where C++ takes one TensorOptions, the schema's four arguments become one (torchgen/api/cpp.py)."""
    theirs = list(wanted)
    if "TensorOptions" in own and "TensorOptions" not in theirs:
        for at in range(len(theirs) - 3):
            if tuple(t.rstrip("?") for t in theirs[at : at + 4]) == _OPTIONS:
                theirs[at : at + 4] = ["TensorOptions"]
                break
    return own, theirs


def bounds(definition: Definition) -> tuple[int, int]:
    """The fewest and the most arguments that a function takes, given the default arguments in its own parameter list."""
    parameters = [p for p in definition.parameters if p.strip() not in ("", "void")]
    if any("..." in p for p in parameters):
        return (max(0, sum("..." not in p and "=" not in p for p in parameters)), 99)
    if any(_MACRO.fullmatch(p.strip()) for p in parameters):
        return (0, 99)  # a macro stands for the list
    required = 0
    for parameter in parameters:
        if _DEFAULT.search(parameter):
            break
        required += 1
    return (required, len(parameters))
