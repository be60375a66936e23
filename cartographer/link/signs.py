# SPDX-License-Identifier: BSD-3-Clause
"""Tells which operator a C++ operator sign between tensors means: `self != other` is `Tensor::ne`.

Read from the tree: the list in aten/src/ATen/TensorOperators.h (`_(!=, x.ne(y), y.ne(x))`), and the members of the
tensor class (`Tensor& operator+=(const Tensor& other) { return add_(other); }`, aten/src/ATen/templates/TensorBody.h).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cartographer.model.fact import FileFacts

_LIST = "AT_FORALL_BINARY_OPS"
HEADERS = ("aten/src/ATen/TensorOperators.h", "aten/src/ATen/templates/TensorBody.h")
_LISTED = re.compile(r"_\(\s*([^\s,\w]+),\s*x\.(\w+)\(\s*y\s*\)")
_MEMBER = re.compile(r"operator\s*([-+*/%&|^~<>!=]+)")


@dataclass(frozen=True, slots=True)
class Signs:
    """The methods of the tensor class that C++ operator signs stand for."""

    between: Mapping[str, str] = field(default_factory=dict)  # also those that set their left side
    before: Mapping[str, str] = field(default_factory=dict)

    def method(self, sign: str, *, alone: bool) -> str:
        """The method that a sign stands for; "" when tensors have none. `alone`: the sign has no left operand."""
        return (self.before if alone else self.between).get(sign, "")


def signs_of(files: Mapping[str, FileFacts]) -> Signs:
    """The signs of one tree; none when the headers that define them are not at hand."""
    between: dict[str, str] = {}
    before: dict[str, str] = {}
    for facts in (files[path] for path in HEADERS if path in files):
        for macro in facts.macros:
            if macro.name == _LIST:
                between.update(_LISTED.findall(macro.body))
        for definition in facts.definitions:
            match = _MEMBER.fullmatch(definition.name)
            if match is not None and match[1] != "=" and "Tensor" in definition.qualname and len(definition.calls) == 1:
                (between if definition.parameters else before).setdefault(match[1], definition.calls[0].name)
    return Signs(between, before)
