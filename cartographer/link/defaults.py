# SPDX-License-Identifier: BSD-3-Clause
"""Uses the defaults of an operator's arguments to judge the conditions on its ways: what holds for them is what most people run
(`int reduction=Mean` and `reduction == Reduction::Mean`), also of ways that one number distinguishes, as `p == 2` and `p == 1`
(`Scalar ord=2`).
"""

from __future__ import annotations

import math
import operator
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.link.arguments import parameter_name
from cartographer.link.conditions import negation, value, weight
from cartographer.model.schema import FunctionSchema, SchemaError
from cartographer.model.schema_text import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cartographer.link.conditions import Conditions
    from cartographer.link.index import Defined

_EQUALS = re.compile(r"(?<![\w.>])(\w+) == (?:static_cast<\w+>\()?(-?\d+(?:\.\d+)?)\b")
_NUMBERS = ("Scalar", "float")
_COMPARES = re.compile(r"(\w+) ([!=<>]=?) (?:(?:at::)?Reduction::(\w+)|(-?\d+(?:\.\d+)?))")
_SIGNS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?")
_GIVEN = re.compile(r"(\w+)\.has_value\(\)")
_TRUTH = {"True": True, "False": False}
_OTHERWISE = 2.5  # what a way costs more that the default of an argument does not take


@lru_cache(maxsize=65536)
def by_default(conditions: Conditions, schema: str, names: tuple[str, ...] = ()) -> float:
    """What conditions add to, or take off, the cost of a way, given the defaults of an operator's arguments: conditions that the defaults meet
    are no special case, those that they rule out are one. `names` are the names of the arguments in the entry's function.
    """
    values = _values(schema, names) if conditions else {}
    if not values:
        return 0.0
    cost = 0.0
    for condition in conditions:
        held = value(condition, lambda term: _holds(term.strip(), values))
        if held is not None:
            cost += -weight((condition,)) if held else _OTHERWISE
    return round(cost, 6)


def _holds(term: str, values: Mapping[str, str]) -> bool | None:
    """Whether a term holds for the defaults; None when they do not decide it."""
    if term in values:
        return _TRUTH.get(values[term])
    if (match := _GIVEN.fullmatch(term)) is not None and match[1] in values:
        return values[match[1]] != "None"
    match = _COMPARES.fullmatch(term)
    if match is None or match[2] not in _SIGNS or not _NUMBER.fullmatch(values.get(match[1], "")):
        return None
    asked = match[4] or CONSTANTS.get(match[3], "")
    return bool(_SIGNS[match[2]](float(values[match[1]]), float(asked) if asked else math.nan))  # nan: any other enumerator


def asked_for(conditions: Iterable[Conditions], schema: str) -> frozenset[Conditions]:
    """The conditions of ways that ask whether a number has an operator's default value (`p == 2`), where other ways ask for other values of it."""
    told = {c: dict(_numbers(c)) for c in conditions if any(" == " in condition for condition in c)}
    values: dict[str, set[float]] = {}
    for numbers in told.values():
        for name, number in numbers.items():
            values.setdefault(name, set()).add(number)
    apart = {name for name, found in values.items() if len(found) > 1}
    usual = _defaults(schema) if apart else frozenset()
    return frozenset(c for c, numbers in told.items() if any(n in apart and number in usual for n, number in numbers.items()))


def _numbers(conditions: Conditions) -> Iterable[tuple[str, float]]:
    return [(name, float(value)) for c in conditions if not negation(c) for name, value in _EQUALS.findall(c)]


def parameter_names(function: Defined) -> tuple[str, ...]:
    """The names of a function's parameters, in order."""
    return tuple(map(parameter_name, function.fact.parameters))


def names_in_kernel(arguments: Sequence[str], kernel: Defined, schema: str) -> tuple[str, ...]:
    """The names that an operator's arguments have in the kernel of a stub that is called with `arguments`: `lu_factor_stub(device, …, pivot)`
    and `lu_factor(…, bool compute_pivots)`.
    """
    handed = {text.strip(): name for text, name in zip(arguments, parameter_names(kernel), strict=False)}
    try:
        own = parameter_names(kernel)
        return tuple(handed.get(a.name, "" if a.name in own else a.name) for a in FunctionSchema.parse(schema).arguments)
    except SchemaError:
        return ()


@lru_cache(maxsize=4096)
def _values(schema: str, names: tuple[str, ...]) -> Mapping[str, str]:
    """The defaults of an operator's arguments by name, the schema's and the function's own. An optional tensor has none: most
    modules do give a bias or a weight.
    """
    try:
        arguments = FunctionSchema.parse(schema).arguments
    except SchemaError:
        return {}
    given = [(n, a.default) for n, a in enumerate(arguments) if a.default is not None and not a.type.startswith("Tensor")]
    own = {names[n]: default for n, default in given} if len(names) >= len(arguments) else {}  # structured kernels take outputs, too
    return own or {arguments[n].name: default for n, default in given}


@lru_cache(maxsize=1024)
def _defaults(schema: str) -> frozenset[float]:
    """The numbers that stand as defaults of an operator's scalar arguments."""
    try:
        arguments = FunctionSchema.parse(schema).arguments
    except SchemaError:
        return frozenset()
    return frozenset(float(a.default) for a in arguments if a.type.rstrip("?") in _NUMBERS and a.default and re.fullmatch(r"-?\d+(?:\.\d+)?", a.default))
