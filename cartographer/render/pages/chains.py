# SPDX-License-Identifier: BSD-3-Clause
"""Kernel chains: from the function that the dispatcher calls down to the code that runs on the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.render.site import anchor_of

if TYPE_CHECKING:
    from cartographer.model.operator import Chain, Operator, Step
    from cartographer.render.pages.frame import Receipt
    from cartographer.render.site import Site


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


ROLES = {
    "entry": "entry", "stub": "stub", "registration": "registered", "kernel": "kernel", "device": "on the device", "library": "library",
    "calls": "calls",
}  # fmt: skip


def chains_of(site: Site, op: Operator) -> tuple[ChainView, ...]:
    """The chains of an overload; backends with the very same chain stand together."""
    groups: dict[Chain, list[str]] = {}
    for backend, chain in op.kernels.items():
        groups.setdefault(chain, []).append(backend)
    views = []
    for chain, backends in groups.items():
        anchors = tuple(f"{anchor_of(op.name)}-{backend}" for backend in backends)
        steps = tuple(step_view(site, step) for step in chain.steps)
        views.append(
            ChainView(anchors[0], anchors[1:], tuple(backends), chain.status.value, chain.reason or "", steps)
        )
    return tuple(views)


def step_view(site: Site, step: Step) -> StepView:
    """One step with its links."""
    generated = site.is_generated(step.path) or step.note.startswith("generated")
    return StepView(
        role=ROLES.get(step.role, step.role),
        symbol=step.symbol,
        address=site.place(step.path, step.line),
        receipt=site.receipt(step.path, step.line),
        generated=generated,
        note=step.note,
        branch=step.branch,
    )
