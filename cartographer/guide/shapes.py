# SPDX-License-Identifier: BSD-3-Clause
"""Tells the shape of an operator in one release: structured or not, composite, one function for each backend, with a stub or without."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cartographer.guide.places import own_roles
from cartographer.model.backend import in_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.model.operator import Operator

_LOOP = "ufunc_inner_loop"  # a key of the yaml
_WITHOUT = ("Meta",)  # keys that compute nothing
_ONE_FOR_ALL = {
    "math kernel": ("Composite, implicit", "One function that calls other operators. It needs no derivative; a row that is there serves backends with a kernel of their own."),
    "default backend kernel": ("Composite, explicit", "One function for all backends that have none of their own."),
    "catch all": ("One function for all backends", "Its row names no backend, so its function is registered for all of them."),
}


class Shape(NamedTuple):
    """The shape as the words of a heading, and a sentence about it."""

    words: str
    says: str


def shape_of(overloads: Sequence[Operator]) -> Shape:
    """The shape of the first of these overloads of one operator, with the one to which it delegates."""
    op = overloads[0]
    done_by = next((o for o in overloads if op.structured_delegate and o.name.partition("::")[2] == op.structured_delegate), op)
    stub = any("registration" in own_roles(chain) for each in (op, done_by) for key, chain in each.kernels.items() if each.dispatch.get(key) == "kernel" and key not in _WITHOUT)
    behind, says = (", with a stub", " The function for each device stands behind the stub.") if stub else ("", "")
    if op.structured or op.structured_delegate:
        if _LOOP in done_by.extra:
            return Shape("Structured, written by the build", f"The yaml row has a `{_LOOP}`; only the loop is by hand.")
        return Shape(f"Structured{behind}", f"One function tells the shape of the result, another one computes it.{says}")
    if (served := op.dispatch.get("CPU", "")) in _ONE_FOR_ALL:
        words, told = _ONE_FOR_ALL[served]
        return Shape(words, told + (" Its derivative has a row." if op.autograd and op.autograd.formula and served != "math kernel" else ""))
    keys = in_order({key for key in op.kernels if op.dispatch.get(key) == "kernel" and key not in _WITHOUT})
    if len(keys) == 1:
        return Shape(f"On {keys[0]} only", "No other backend has a kernel.")
    return Shape(f"A function for each backend{behind}", f"The row of the yaml names them.{says}")
