# SPDX-License-Identifier: BSD-3-Clause
"""What the default of an operator's argument says of the conditions on its ways: of ways that one number tells apart, as `p == 2`
and `p == 1`, the one for the default is what most people run (`Scalar ord=2`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.link.conditions import negation
from cartographer.model.schema import FunctionSchema, SchemaError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.link.conditions import Conditions

_EQUALS = re.compile(r"(?<![\w.>])(\w+) == (?:static_cast<\w+>\()?(-?\d+(?:\.\d+)?)\b")
_NUMBERS = ("Scalar", "float")


def asked_for(conditions: Iterable[Conditions], schema: str) -> frozenset[Conditions]:
    """Those among the conditions of some ways that ask a number for an operator's default, where others ask it for another."""
    told = {c: dict(_numbers(c)) for c in conditions if any(" == " in condition for condition in c)}
    values: dict[str, set[float]] = {}
    for numbers in told.values():
        for name, value in numbers.items():
            values.setdefault(name, set()).add(value)
    apart = {name for name, found in values.items() if len(found) > 1}
    usual = _defaults(schema) if apart else frozenset()
    return frozenset(c for c, numbers in told.items() if any(n in apart and value in usual for n, value in numbers.items()))


def _numbers(conditions: Conditions) -> Iterable[tuple[str, float]]:
    return [(name, float(value)) for c in conditions if not negation(c) for name, value in _EQUALS.findall(c)]


@lru_cache(maxsize=1024)
def _defaults(schema: str) -> frozenset[float]:
    """The numbers that stand as defaults of an operator's scalar arguments."""
    try:
        arguments = FunctionSchema.parse(schema).arguments
    except SchemaError:
        return frozenset()
    return frozenset(float(a.default) for a in arguments if a.type.rstrip("?") in _NUMBERS and a.default and re.fullmatch(r"-?\d+(?:\.\d+)?", a.default))
