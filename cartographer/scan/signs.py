# SPDX-License-Identifier: BSD-3-Clause
"""Finds operators that a body writes as signs between tensors: `self != other`, `x -= y`, `-x`.

They may be calls of PyTorch's operators (aten/src/ATen/TensorOperators.h). Whether an operand is a tensor is known for
parameters and for variables of that type; a variable without a written type is taken along, its first use tells.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PARAMETER = re.compile(r"(?:const\s+)?(?:at::|torch::)?Tensor\s*&{0,2}\s*(\w+)\s*(?:=|$)")
_DECLARED = {"Tensor": re.compile(r"\s+&?(\w+)\s*[=;({]"), "auto": re.compile(r"\s*&?\s*(\w+)\s*=")}
# A sign with white space on both sides, as PyTorch's formatter writes it, or one that sets its left side.
_AFTER = re.compile(r"\s+([-+*/%&|^]=?|[<>=!]=|[<>])\s+(?=[\w(\-\"'~])")
_BEFORE = re.compile(r"[\w)\]]\s+([-+*/%&|^]=?|[<>=!]=|[<>])\s+\Z")
_ALONE = re.compile(r"(?:(?<=[=(,{?:+*/<>|-])|(?<=return)|(?<=&&))\s*([-~])\Z")
_LEFT = re.compile(r"(?<![\w.>:)\]])([A-Za-z_]\w*)\Z")
_RIGHT = re.compile(r"([A-Za-z_]\w*)(?![\w.(<\[]|->|::|\s*[.(\[])")
_CALLED = re.compile(r"(at::[a-z_]\w*)\(")
_SIGN = frozenset("-+*/%&|^<>=!~")
_BEFORE_OPERAND = _SIGN.union(" \n")
_LONGEST = 60  # characters of a name


class Sign(NamedTuple):
    """One sign with its one or two operands; an operand that is not a name is ""."""

    at: int
    sign: str
    operands: tuple[str, ...]


def signs(code: str, start: int, end: int, parameters: Iterable[str]) -> list[Sign]:
    """The signs between two offsets of which an operand may be a tensor, in order."""
    names = {m[1] for p in parameters if "Tensor" in p and (m := _PARAMETER.match(p)) is not None}
    if not names and code.find("Tensor", start, end) < 0:
        return []
    for word in _DECLARED:
        names.update(_declared(code, start, end, word))
    found: dict[int, Sign] = {}
    for name in names:
        found.update((sign.at, sign) for sign in _around(code, start, end, name, names))
    for sign in _of_results(code, start, end, names):
        found.setdefault(sign.at, sign)
    return sorted(found.values())


def _declared(code: str, start: int, end: int, word: str) -> Iterator[str]:
    """The variables that stand behind a type."""
    at = code.find(word, start, end)
    while at >= 0:
        before = code[at - 1]
        if not (before.isalnum() or before in "_<(,") and (match := _DECLARED[word].match(code, at + len(word), end)) is not None:
            yield match[1]
        at = code.find(word, at + len(word), end)


def _around(code: str, start: int, end: int, name: str, names: set[str]) -> Iterator[Sign]:
    """The signs on both sides of every place of a name."""
    at = code.find(name, start, end)
    while at >= 0:
        last = at + len(name)
        before = code[at - 1]
        if not (before.isalnum() or before == "_" or (after := code[last : last + 1]).isalnum() or after == "_"):
            if after and after in " \n" and (match := _AFTER.match(code, last, end)) is not None and _LEFT.search(code, max(start, at - 1), last) is not None:
                right = _RIGHT.match(code, match.end(), end)
                yield Sign(match.start(1), match[1], (name, right[1] if right is not None and right[1] in names else ""))
            if before in _BEFORE_OPERAND and _RIGHT.match(code, at, end) is not None:
                yield from _before(code, start, at, name, names)
        at = code.find(name, last, end)


def _of_results(code: str, start: int, end: int, names: set[str]) -> Iterator[Sign]:
    """The signs before a call of an operator by its name: `at::narrow(x) - at::narrow(y)`; the operand is what is called."""
    at = code.find(" at::", start, end)
    while at >= 0:
        match = _CALLED.match(code, at + 1, end)
        if match is not None:
            yield from _before(code, start, at + 1, match[1], names)
        at = code.find(" at::", at + 1, end)


def _before(code: str, start: int, at: int, name: str, names: set[str]) -> Iterator[Sign]:
    """The sign on the left of a name that is an operand."""
    before = at - 1
    while before > start and code[before] in " \n":
        before -= 1
    if code[before] not in _SIGN:
        return
    if before == at - 1:
        if (match := _ALONE.search(code, max(start, at - _LONGEST), at)) is not None:
            yield Sign(match.start(1), match[1], (name,))
        return
    match = _BEFORE.search(code, max(start, before - _LONGEST), at)
    if match is None:
        return
    left = _LEFT.search(code, max(start, match.start() - _LONGEST), match.start() + 1)
    if not (match[1] in "*&" and left is not None and left[1][:1].isupper()):
        yield Sign(match.start(1), match[1], (left[1] if left is not None and left[1] in names else "", name))
