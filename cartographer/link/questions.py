# SPDX-License-Identifier: BSD-3-Clause
"""Finds operators that only ask for what is known about a tensor without its data: sizes, types, flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from cartographer.link.composites import Operators
    from cartographer.model.operator import Operator

_DEVICES = ("CPU", "CUDA")


def questions(operators: Operators, calling: Mapping[str, Collection[str]]) -> frozenset[str]:
    """The operators that return no tensor, write to none and read no data. Data is read by an operator with a kernel of its own for each
    device, and by one that calls such an operator; `calling` are the operators that each one calls in its body.
    """
    silent = {name for name, shape in operators.shapes.items() if shape.metadata}
    reading = {name for name in silent if _by_device(operators.by_name[name])}
    found = reading
    while found:
        found = {name for name in silent - reading if not reading.isdisjoint(calling.get(name, ()))}
        reading |= found
    return frozenset(silent - reading)


def _by_device(operator: Operator) -> bool:
    """Whether the kernels for CPU and CUDA are different functions."""
    kernels = {r.key: r.kernel for r in operator.registrations if r.key in _DEVICES and r.active and not r.fallthrough}
    return len(kernels) == len(_DEVICES) and len(set(kernels.values())) > 1
