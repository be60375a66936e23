# SPDX-License-Identifier: BSD-3-Clause
"""Finds loops over the elements of tensors that a CPU kernel's function contains itself, without a launcher:
`for (…) { data[i] = …; }`, also as copies of memory, or as sorting by the standard library.
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
    """Whether the text of a function contains a loop that writes elements of tensors, or sorts them."""
    loop = _LOOPS.search(text)
    return loop is not None and _ELEMENTS.search(text) is not None and _WRITES.search(text, loop.start()) is not None


def on_exits(exits: Sequence[Exit], told: Iterable[Conditions]) -> list[Exit]:
    """The early exits under whose conditions all of the given conditions are; none when one of these is under no exit."""
    found: dict[int, Exit] = {}
    for conditions in told:
        way_out = next((e for e in exits if e.condition in conditions), None)
        if way_out is None:
            return []
        found[way_out.line] = way_out
    return list(found.values())
