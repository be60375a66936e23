# SPDX-License-Identifier: BSD-3-Clause
"""Loops that a function of a CPU's kernel writes itself over the elements of tensors, handing nothing to a launcher:
`for (…) { data[i] = …; }`, or copies their memory, or orders them by what the standard library has for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cartographer.link.conditions import Conditions
    from cartographer.model.fact import Exit

_ORDERS = r"\bstd::(?:nth_element|partial_sort|stable_sort|sort)\s*\("
_LOOPS = re.compile(rf"\b(?:for|while)\s*\(|{_ORDERS}")
# Elements of a tensor: its data, or a pointer that comes in; numbers of type int64_t are sizes, offsets and the like.
_ELEMENTS = re.compile(r"memcpy\([^;]*data_ptr|(?:data_ptr|accessor)<(?!u?int64_t\b|int\b)|\b(?:\w*scalar\w*|T|float|double)\s*\*")
_WRITES = re.compile(rf"{_ORDERS}|\bmemcpy\(|\]\s*(?:[-+*/|&^]|<<|>>)?=(?!=)|(?<![\w)\]])\*\s*\w+(?:\+\+)?\s*[-+*/|&^]?=(?!=)|\.store\(|_store\w*\(")


def loops_over_elements(text: str) -> bool:
    """Whether a function's text holds a loop that writes elements of tensors, or orders them."""
    loop = _LOOPS.search(text)
    return loop is not None and _ELEMENTS.search(text) is not None and _WRITES.search(text, loop.start()) is not None


def on_exits(exits: Sequence[Exit], told: Iterable[Conditions]) -> list[Exit]:
    """The ways out of a body on which all stands that it does under these conditions; none when it does anything elsewhere."""
    found: dict[int, Exit] = {}
    for conditions in told:
        way_out = next((e for e in exits if e.condition in conditions), None)
        if way_out is None:
            return []
        found[way_out.line] = way_out
    return list(found.values())
