# SPDX-License-Identifier: BSD-3-Clause
"""The functions of an operator's kernels by size and age: lines, the oldest and the newest, a bar by era."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cartographer.render.pages.ages import AgeBar, age_bar
from cartographer.render.pages.frame import Link

if TYPE_CHECKING:
    from collections.abc import Container

    from cartographer.model.atlas import Symbol
    from cartographer.model.operator import Operator
    from cartographer.render.site import Site

_ROLES = ("entry", "kernel", "device")
_MOST = 24


class SizeRow(NamedTuple):
    """One function with its size in lines and its age."""

    link: Link
    backends: tuple[str, ...]
    lines: int
    share: str  # of the longest, per cent: the length of its bar
    oldest: str
    half: str  # half of its lines came in on this day or before
    newest: str
    first_release: str


@dataclass(frozen=True, slots=True)
class KernelSizes:
    """The functions of all kernels of an overload, and their sum."""

    rows: tuple[SizeRow, ...]
    total: int
    left_out: int
    dated: bool
    bar: AgeBar | None


def kernel_sizes(site: Site, op: Operator, linked: Container[str] = ()) -> KernelSizes | None:
    """The functions that the overload reaches itself, longest first; None when there is none whose lines are known. Names whose address is
    in `linked` are linked elsewhere on the page already.
    """
    found: dict[tuple[str, int], tuple[Symbol, list[str]]] = {}
    for backend, chain in op.kernels.items():
        for step in chain.steps:
            if step.role == "calls":
                break
            symbol = site.catalog.symbol_at(step.path, step.line) if step.role in _ROLES else None
            if symbol:
                backends = found.setdefault((symbol.path, symbol.line), (symbol, []))[1]
                if backend not in backends:
                    backends.append(backend)
    if not found:
        return None
    ordered = sorted(found.values(), key=lambda pair: (-_lines(pair[0]), pair[0].path, pair[0].line))
    longest = _lines(ordered[0][0])
    rows = tuple(_row(site, symbol, tuple(backends), longest, linked) for symbol, backends in ordered[:_MOST])
    ground = site.catalog.ground
    counts = [0] * (len(ground.eras) + 1)
    for symbol, _backends in ordered:
        for era, lines in enumerate(ground.span(symbol.path, symbol.line, symbol.end_line)):
            counts[era] += lines
    total = sum(_lines(symbol) for symbol, _backends in ordered)
    return KernelSizes(rows, total, len(ordered) - len(rows), any(row.oldest for row in rows), age_bar(ground, tuple(counts)))


def _lines(symbol: Symbol) -> int:
    return max(1, symbol.end_line - symbol.line + 1)


def _row(site: Site, symbol: Symbol, backends: tuple[str, ...], longest: int, linked: Container[str]) -> SizeRow:
    lines = _lines(symbol)
    age = site.catalog.ground.ages.of(symbol.path, symbol.line, symbol.end_line)
    address = site.place(symbol.path, symbol.line) or ""
    return SizeRow(
        Link(symbol.qualname or symbol.name, "" if address in linked else address), backends, lines, f"{100 * lines / longest:.0f}",
        (age.oldest or "")[:10] if age else "", (age.median or "")[:10] if age else "", (age.newest or "")[:10] if age else "",
        (age.first_release or "") if age else "",
    )  # fmt: skip
