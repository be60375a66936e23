# SPDX-License-Identifier: BSD-3-Clause
"""The page of all autograd Nodes: the names that a backward pass shows, and the operators behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.model.recorded import limits
from cartographer.render import urls
from cartographer.render.pages.frame import Link, Page, Receipt

if TYPE_CHECKING:
    from cartographer.render.site import Site


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One autograd Node with the operators that record it."""

    name: str
    receipt: Receipt | None
    operators: tuple[Link, ...]
    limit: str = ""  # the tensors for which alone it is recorded


@dataclass(frozen=True, slots=True)
class NodesPage:
    """The content of the page of autograd Nodes."""

    rows: tuple[NodeRow, ...]


def build(site: Site) -> Page:
    """The page of all autograd Nodes."""
    rows = []
    for node, names in site.catalog.nodes.items():
        behind = [site.catalog.by_name[name] for name in names]
        autograd, limited = behind[0].autograd, {limits(op).get(node, "") for op in behind}
        receipt = site.receipt_of(autograd.formula) if autograd else None
        rows.append(NodeRow(node, receipt, tuple(link for link in map(site.operator, names) if link), limited.pop() if len(limited) == 1 else ""))
    return Page(
        address=urls.NODES,
        template="nodes.html.jinja2",
        title="Autograd Nodes",
        description=f"The {len(rows):,} Nodes that autograd records, and the operators that record them.",
        plate=urls.OPERATORS,
        view=NodesPage(tuple(rows)),
        crumbs=(Link("Operators", urls.OPERATORS),),
        floors=(4,),
        says="Nodes are recorded at the dispatcher, on the way down.",
    )
