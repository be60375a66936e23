# SPDX-License-Identifier: BSD-3-Clause
"""Where else an operator is known: documentation, test descriptions, Python references, decompositions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.model.operator import Operator
    from cartographer.render.pages.frame import Receipt
    from cartographer.render.site import Site


@dataclass(frozen=True, slots=True)
class RegistryRow:
    """One entry of another registry."""

    registry: str
    text: str
    receipt: Receipt


_NAMES = {
    "docs": "Documentation", "opinfo": "Test description", "reference": "Python reference", "decomposition": "Decomposition",
    "meta": "Shape in Python", "compatibility": "Schema may change",
}  # fmt: skip


def registries_of(site: Site, operators: Sequence[Operator]) -> tuple[RegistryRow, ...]:
    """All entries under the base names of these operators, each place once."""
    rows: dict[tuple[str, str, int], RegistryRow] = {}
    for subject in dict.fromkeys(f"{op.namespace}::{op.base}" for op in operators):
        for landmark in site.catalog.landmarks_of.get(subject, ()):
            row = RegistryRow(_NAMES.get(landmark.kind, landmark.kind), landmark.text, site.receipt(landmark.path, landmark.line))
            rows.setdefault((landmark.kind, landmark.path, landmark.line), row)
    order = list(_NAMES.values())
    return tuple(sorted(rows.values(), key=lambda row: order.index(row.registry) if row.registry in order else len(order)))
