# SPDX-License-Identifier: BSD-3-Clause
"""Operators that a body writes as signs between tensors: `self != other`, `x -= y`, `-x`.

They may be calls of PyTorch's operators (aten/src/ATen/TensorOperators.h). Whether an operand is a tensor is known for
parameters and for variables of that type; a variable without a written type is taken along, its first use tells.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PARAMETER = re.compile(r"(?:const\s+)?(?:at::|torch::)?Tensor\s*&{0,2}\s*(\w+)\s*(?:=|$)")
_VARIABLE = re.compile(r"(?<![\w<:,(])(?:at::|torch::)?Tensor\s+&?(\w+)\s*[=;({]|(?<!\w)auto\s*&?\s*(\w+)\s*=")
# A sign with white space on both sides, as PyTorch's formatter writes it, or one that sets its left side.
_BETWEEN = re.compile(r"(?<=[\w)\]])\s+([-+*/%&|^]=?|[<>=!]=|[<>])\s+(?=[\w(\-\"'~])")
_BEFORE = re.compile(r"(?:(?<=[=(,{?:+*/<>|-])|(?<=return)|(?<=&&))\s*([-~])(?=[A-Za-z_])")
_LEFT = re.compile(r"(?<![\w.>:)\]])([A-Za-z_]\w*)\Z")
_RIGHT = re.compile(r"([A-Za-z_]\w*)(?![\w.(<\[]|->|::|\s*[.(\[])")
_LONGEST = 60  # characters of a name


class Sign(NamedTuple):
    """One sign with its operands, one or two; an operand that is no name is ""."""

    at: int
    sign: str
    operands: tuple[str, ...]


def signs(code: str, start: int, end: int, parameters: Iterable[str]) -> list[Sign]:
    """The signs between two offsets of which an operand may be a tensor, in order."""
    names = {m[1] for p in parameters if (m := _PARAMETER.match(p)) is not None}
    if not names and code.find("Tensor", start, end) < 0:
        return []
    names.update(m[1] or m[2] for m in _VARIABLE.finditer(code, start, end))
    return sorted(_found(code, start, end, names)) if names else []


def _found(code: str, start: int, end: int, names: set[str]) -> Iterator[Sign]:
    for match in _BETWEEN.finditer(code, start, end):
        left = _LEFT.search(code, max(start, match.start() - _LONGEST), match.start())
        right = _RIGHT.match(code, match.end(), end)
        operands = (left[1] if left is not None and left[1] in names else "", right[1] if right is not None and right[1] in names else "")
        if any(operands) and not (match[1] in "*&" and left is not None and left[1][:1].isupper()):
            yield Sign(match.start(1), match[1], operands)
    for match in _BEFORE.finditer(code, start, end):
        right = _RIGHT.match(code, match.end(), end)
        if right is not None and right[1] in names:
            yield Sign(match.start(1), match[1], (right[1],))
