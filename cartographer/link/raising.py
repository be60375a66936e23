# SPDX-License-Identifier: BSD-3-Clause
"""Recognizes kernels that only raise an error since the real one is missing, as `convolution_overrideable` does for every backend that
has no convolution of its own, or MIOpen's operators in a CUDA build.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.link.bodies import LITERALS
from cartographer.model.operator import ONLY_RAISES, TO_OVERRIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cartographer.link.index import Defined
    from cartographer.model.fact import Definition

IN_CUDA = f"in a CUDA build {ONLY_RAISES}"
_CHECKS = re.compile(r"(?:TORCH|AT)_(?:INTERNAL_)?(?:CHECK|ASSERT)\w*")  # c10/util/Exception.h: they raise where their first argument does not hold
_OVERRIDE = re.compile(r"\bTORCH_LIBRARY_IMPL\b|\boverrid(?:e|den|ing)\b")  # `convolution_overrideable not implemented. [...] please use TORCH_LIBRARY_IMPL to override this function`
_MAY_NOT_RUN = re.compile(r"\b(?:for|while|do|try)\b")
_ALIKE = 2  # overloads that one name may have to be looked into
_RAISES = re.compile(r"\w*ERROR|C10_THROW_\w+")


def only_raises(function: Definition, raises: Callable[[str], bool] = lambda _: False) -> bool:
    """Whether a function raises an error before anything else, in any case and in any build; `raises` tells of another function, by its name,
    whether that does.
    """
    first = next(iter(function.calls), None)
    if first is None or first.conditions or first.guards or any(way_out.line <= first.line for way_out in function.exits):
        return False
    if (_CHECKS.fullmatch(first.name) is not None and first.arguments[:1] == ("false",)) or _RAISES.fullmatch(first.name) is not None:
        return True
    return first.form == "call" and raises(first.name)


def note_of_error(function: Definition, lines: Callable[[int, int], Sequence[str]]) -> str:
    """What to say of a function that only raises: also whether the text of its error tells a backend to override it. `lines`: those of
    its file, from one to another (the arguments of a fact are cut short).
    """
    first = next(iter(function.calls), None)
    told = " ".join(LITERALS.findall("\n".join(lines(first.line, first.end_line)))) if first else ""
    return TO_OVERRIDE if _OVERRIDE.search(told) else ONLY_RAISES


def raising(named: Sequence[Defined], text: Callable[[Defined], str]) -> bool:
    """Whether functions of one name return nothing and raise an error before anything else: `reportNYIDimnameOverload` (ATen/NamedTensorUtils.h)."""
    found = [d for d in named if d.fact.kind == "function"]
    if not 0 < len(found) <= _ALIKE or any(d.fact.returns.split()[-1:] != ["void"] for d in found):
        return False
    return all(only_raises(d.whole) and _MAY_NOT_RUN.search(text(d)) is None for d in found)
