# SPDX-License-Identifier: BSD-3-Clause
"""The backward side of an overload: what autograd records, with which formula, and what it saves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cartographer.model.recorded import is_composed, limits

if TYPE_CHECKING:
    from cartographer.model.operator import Operator
    from cartographer.render.pages.frame import Receipt
    from cartographer.render.site import Site


class FormulaView(NamedTuple):
    """One derivative formula as the page shows it."""

    names: tuple[str, ...]
    text: str
    receipt: Receipt
    key: str
    forward: bool


class HelperView(NamedTuple):
    """A function that a derivative formula calls."""

    symbol: str
    address: str | None
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class WayBack:
    """Everything that is known about the derivative of an overload."""

    nodes: tuple[tuple[str, str], ...]  # each with the tensors for which alone it is recorded; "" for all
    kind: str
    receipt: Receipt | None
    formulas: tuple[FormulaView, ...]
    saved: tuple[str, ...]
    helpers: tuple[HelperView, ...]
    outputs: tuple[str, ...]
    keyed: bool  # some formula holds for one dispatch key only
    composed: bool  # for some backend the operators that it calls are recorded, and not it itself


def way_back_of(site: Site, op: Operator) -> WayBack | None:
    """The derivative of an overload; None when nothing is known about it."""
    autograd = op.autograd
    if autograd is None:
        return None
    limited = limits(op)
    return WayBack(
        nodes=tuple((node, limited.get(node, "")) for node in autograd.nodes),
        kind=autograd.kind,
        receipt=site.receipt_of(autograd.formula),
        formulas=tuple(
            FormulaView(f.names, f.text, site.receipt(f.place.path, f.place.line), f.key, f.forward) for f in autograd.formulas
        ),
        saved=autograd.saved,
        helpers=tuple(
            HelperView(h.symbol, site.place(h.place.path, h.place.line), site.receipt(h.place.path, h.place.line))
            for h in autograd.helpers
        ),
        outputs=autograd.output_differentiability,
        keyed=any(f.key != "Default" for f in autograd.formulas),
        composed=bool(limited) and is_composed(op),
    )
