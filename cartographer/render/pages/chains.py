# SPDX-License-Identifier: BSD-3-Clause
"""Kernel chains: from the function that the dispatcher calls down to the code that runs on the device.

Overloads and backends share long ends of their ways. A page shows each end once; a later chain that comes to it says so
and links there, which is shorter and shows that it is the same code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.render.pages.frame import Link
from cartographer.render.site import anchor_of, short_name

if TYPE_CHECKING:
    from cartographer.model.operator import Chain, Operator, Step
    from cartographer.render.pages.frame import Receipt
    from cartographer.render.site import Site

Way = tuple[tuple[str, str, str, int, str], ...]
Shown = dict[Way, Link]


@dataclass(frozen=True, slots=True)
class StepView:
    """One step down."""

    role: str
    symbol: str
    address: str | None  # of the symbol, in this site
    receipt: Receipt
    generated: bool
    note: str
    branch: str


@dataclass(frozen=True, slots=True)
class ChainView:
    """The chain of one backend, or of several that share it."""

    anchor: str
    anchors: tuple[str, ...]  # of the further backends
    backends: tuple[str, ...]
    status: str
    reason: str
    steps: tuple[StepView, ...]
    goes_on: Link | None  # where the rest of the way is shown
    first: str  # the rest's first symbol
    rest: int  # how many steps are shown there


ROLES = {
    "entry": "entry", "stub": "stub", "registration": "registered", "kernel": "kernel", "device": "on the device", "library": "library",
    "calls": "calls",
}  # fmt: skip


def chains_of(site: Site, op: Operator, shown: Shown) -> tuple[ChainView, ...]:
    """The chains of an overload; backends with the very same chain stand together. `shown` grows over the page."""
    groups: dict[Chain, list[str]] = {}
    for backend, chain in op.kernels.items():
        groups.setdefault(chain, []).append(backend)
    return tuple(_view(site, op, chain, backends, shown) for chain, backends in groups.items())


def _view(site: Site, op: Operator, chain: Chain, backends: list[str], shown: Shown) -> ChainView:
    anchors = tuple(f"{anchor_of(op.name)}-{backend}" for backend in backends)
    way = tuple((step.role, step.symbol, step.path, step.line, step.branch) for step in chain.steps)
    start = next((n for n in range(len(way) - 1) if way[n:] in shown), None)
    steps = chain.steps if start is None else chain.steps[:start]
    view = ChainView(
        anchors[0], anchors[1:], tuple(backends), chain.status.value, chain.reason or "", tuple(step_view(site, step) for step in steps),
        goes_on=None if start is None else shown[way[start:]], first="" if start is None else chain.steps[start].symbol,
        rest=0 if start is None else len(way) - start,
    )  # fmt: skip
    here = Link(f"{short_name(op.name)}, {backends[0]}", anchors[0])
    for number in range(len(way) - 1 if start is None else start):
        shown.setdefault(way[number:], here)
    return view


def step_view(site: Site, step: Step) -> StepView:
    """One step with its links."""
    address = site.place(step.path, step.line)
    generated = site.is_generated(step.path) or step.note.startswith(("generated", "written by the build"))
    return StepView(
        role=ROLES.get(step.role, step.role),
        symbol=step.symbol,
        address=address if address and "#" in address else None,  # a link to a whole file says less than the receipt beside it
        receipt=site.receipt(step.path, step.line),
        generated=generated,
        note=step.note,
        branch=step.branch,
    )
