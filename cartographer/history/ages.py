# SPDX-License-Identifier: BSD-3-Clause
"""Dates spans of lines, and the places in which the parts of an operator are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.model.age import Age, Ages
from cartographer.model.operator import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cartographer.model.atlas import Strata
    from cartographer.model.operator import Chain, Operator, Step

    Extent = Callable[[str, int], tuple[int, int]]


def of(strata: Strata, path: str, first: int, last: int) -> Age | None:
    """The age of the given lines of a file; None when it has no dated lines. For many questions, keep one `Ages`."""
    return Ages(strata).of(path, first, last)


def of_operator(ages: Ages, operator: Operator, extent: Extent) -> dict[str, str | None]:
    """When the parts of an operator came in: the oldest surviving line of each, as an ISO day.

    Keys: "declared", "kernel" (the oldest of all backends), "kernel.CUDA" and so on, "derivative".
    `extent` gives the first and last line of the definition at a place.
    """
    declared = operator.declared
    found = {"declared": _oldest(ages, [(declared.path, declared.line, declared.end_line or declared.line)])}
    kernels = {
        f"kernel.{backend}": _oldest(ages, [(step.path, *extent(step.path, step.line)) for step in _bodies(chain)])
        for backend, chain in operator.kernels.items()
        if chain.status is Status.RESOLVED
    }
    found["kernel"] = min((day for day in kernels.values() if day), default=None)
    formula = operator.autograd.formula if operator.autograd else None
    if formula is not None:
        found["derivative"] = _oldest(ages, [(formula.path, formula.line, formula.end_line or formula.line)])
    return found | kernels


def _bodies(chain: Chain) -> list[Step]:
    return [step for step in chain.steps if step.role in {"kernel", "device"}] or [step for step in chain.steps if step.role == "entry"]


def _oldest(ages: Ages, spans: Iterable[tuple[str, int, int]]) -> str | None:
    return min((day for span in spans if (day := ages.oldest(*span)) is not None), default=None)
