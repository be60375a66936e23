# SPDX-License-Identifier: BSD-3-Clause
"""Makes the page that shows what changed in a release since the one before, with links to its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.compare.atlases import with_atlases
from cartographer.compare.operators import compare
from cartographer.store.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cartographer.model.change import Comparison
    from cartographer.model.source import SourceInfo
    from cartographer.render.known import KnownPages
    from cartographer.render.pages.frame import Page


@dataclass(frozen=True, slots=True)
class Sides:
    """Two atlases compared, kernels and bindings included; `found` is None when there is no older one."""

    found: Comparison | None
    old: frozenset[str]  # operators
    new: frozenset[str]
    wheel: bool = False  # one of them was read from a wheel


def sides_of(before: Path | None, folder: Path) -> Sides:
    """Compare the release in `folder` with the one before, kernels and bindings included."""
    with Reader(folder) as new:
        after = new.oplist()
        here = frozenset(after.rows) if after else frozenset()
        if before is None or after is None:
            return Sides(None, frozenset(), here)
        with Reader(before) as old:
            listed = old.oplist()
            if listed is None:
                return Sides(None, frozenset(), here)
            found = compare(listed, after)
            sides = old.compared(), new.compared()
    whole = with_atlases(found, *sides)
    return Sides(whole, frozenset(listed.rows), here, any(side.wheel for side in sides))


def plate_of(
    folder: Path, sides: Sides, before: Path | None, after: Path | None, *, known: Callable[[Path], KnownPages], drawn: Callable[[Path], bool],
) -> tuple[SourceInfo, Page]:
    """The page of what changed in a release; `known` gives the pages that an atlas has, `drawn` whether a reader can open them."""
    from cartographer.render.pages.releases import Neighbour, plate

    pages, former = known(folder), known(before) if before else None

    def neighbour(other: Path | None) -> Neighbour | None:
        return Neighbour(other.name, f"../{other.name}/") if other and drawn(other) else None

    def where(name: str) -> str | None:
        if name in sides.new:
            return pages.operator(name)
        there = former.operator(name) if former and name in sides.old else None
        return f"../{before.name}/{there}" if before and there else None

    with Reader(folder) as reader:
        source, followed = reader.info().source, reader.lineage()
    return source, plate(source.tag, sides.found, followed, where, collected=True, whole=True, before=neighbour(before), after=neighbour(after), wheel=sides.wheel)
