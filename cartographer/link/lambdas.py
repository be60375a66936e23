# SPDX-License-Identifier: BSD-3-Clause
"""Finds lambdas that variables of a body hold: what such a lambda does happens where the variable is called.

`auto solve = [](const Tensor& A) { solve_batched(A); }; … if (n <= 8) { solve(A); }` (aten/src/ATen/native/cuda/linalg/BatchLinearAlgebra.cpp)
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from cartographer.link.conditions import around, together
from cartographer.link.either import either

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cartographer.link.conditions import Conditions
    from cartographer.link.sites import Spot
    from cartographer.link.variables import Variables
    from cartographer.model.fact import Call, Definition

_USES = 6  # of one lambda


class Use(NamedTuple):
    """The conditions around a call of a lambda, or around a call that passes it on: all of them, then those of `#if` alone."""

    conditions: Conditions
    guards: Conditions


class Held(NamedTuple):
    """A lambda in a variable: its first and last line, and the conditions of its uses."""

    lines: tuple[int, int]
    uses: tuple[Use, ...]


def held(fact: Definition, variables: Variables, left: frozenset[str]) -> Iterator[Held]:
    """The lambdas of a body that are used under conditions only."""
    for name, lines in variables.spans.items():
        called = [c for c in fact.calls if c.line > lines[1] and _uses(c, name)]
        asked = [tuple(n for n in around(c, fact.exits, left) if n not in c.guards) for c in called]
        common = reduce(either, asked) if asked else ()
        if common:
            uses = dict.fromkeys(Use(around(c, fact.exits, left), c.guards) for c in called)
            yield Held(lines, tuple(uses)[:_USES])


def _uses(call: Call, name: str) -> bool:
    return (call.form == "call" and call.name == name) or name in call.arguments


def where_called(spot: Spot, lambdas: Sequence[Held]) -> Iterator[Spot]:
    """For a call inside such a lambda, the same call under the conditions of each use of the lambda; any other call as it is."""
    uses = next((h.uses for h in lambdas if h.lines[0] <= spot.call.line <= h.lines[1]), ())
    if not uses:
        yield spot
    for use in uses:
        guards = tuple(dict.fromkeys((*use.guards, *spot.call.guards)))
        call = spot.call if guards == spot.call.guards else replace(spot.call, guards=guards)
        yield spot._replace(call=call, conditions=together(use.conditions, spot.conditions))
