# SPDX-License-Identifier: BSD-3-Clause
"""Judges conditions on the type of an output that the operator itself chooses: comparisons and logical operators give booleans whatever
the types of their inputs (Note [special-case bool outputs], aten/src/ATen/TensorIterator.cpp).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.link.conditions import negation, weight

if TYPE_CHECKING:
    from cartographer.link.index import Defined
    from cartographer.link.ways import Way

# A TensorIterator's first operand is the output: `iter.dtype()`, or `iter.dtype(0)`, is its type.
_BOOLEAN = re.compile(r"(\w+)\.dtype\(0?\) == (?:at::|c10::)?(?:ScalarType::|k)Bool")
_OTHERWISE = 1.0  # what a way costs more that runs for another type of the output


def by_output(way: Way, base: str) -> float:
    """What a condition on the output's type adds to, or takes off, the cost of a way: boolean is no special case when the loop under that
    condition computes with other types, those of the inputs. An operator that works in place has the output that it is given.
    """
    if base.endswith("_") and not base.endswith("__"):
        return 0.0
    cost = 0.0
    for condition in way.site.conditions:
        denied = negation(condition)
        match = _BOOLEAN.fullmatch(denied or condition)
        if match is not None and _computes_with_inputs(way.at, match[0], match[1]):
            cost += _OTHERWISE if denied else -weight((condition,))
    return cost


def _computes_with_inputs(body: Defined, condition: str, iterator: str) -> bool:
    """Whether what a body does under a condition on its output's type switches over the types that its inputs have in common."""
    asked = f"{iterator}.common_dtype()"
    return any(condition in call.conditions and asked in call.arguments for call in body.whole.calls)
