# SPDX-License-Identifier: BSD-3-Clause
"""What changed between two releases, as a page of its own that needs no other file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from cartographer import resources
from cartographer.model.change import Level, folded, is_public, operators_by_level
from cartographer.model.marking import marked
from cartographer.render.environment import create
from cartographer.render.pages.frame import Receipt, at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.model.change import Change, Comparison
    from cartographer.model.marking import Pieces

_LEVELS = (
    (Level.BREAK, "Breaks", "Old calls can fail."),
    (Level.MAYBE, "May break", "For some: overriding subclasses, registered kernels, serialized programs, gradients."),
    (Level.INFO, "Information", "Nothing to do."),
)


@dataclass(frozen=True, slots=True)
class SideView:
    """One side of a change: its text in pieces, marked where it differs, and where it stands."""

    pieces: Pieces
    receipt: Receipt | None


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One change."""

    level: str
    id: str
    op: str
    reason: str
    old: SideView | None
    new: SideView | None


@dataclass(frozen=True, slots=True)
class LevelView:
    """All changes of a level."""

    key: str
    title: str
    says: str
    operators: int
    public: tuple[ChangeView, ...]
    internal: tuple[ChangeView, ...]
    folds: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class DiffPage:
    """The whole comparison."""

    old: str
    new: str
    operators: int
    levels: tuple[LevelView, ...]
    kinds: tuple[tuple[str, int, int, int], ...]  # id, how many at each level
    notes: tuple[str, ...]


def view_of(found: Comparison) -> DiffPage:
    """The page's data."""
    counts = operators_by_level(found)
    kinds: dict[str, Counter[Level]] = {}
    for change in found.changes:
        kinds.setdefault(change.id, Counter())[change.level] += 1
    table = tuple((id_, n[Level.BREAK], n[Level.MAYBE], n[Level.INFO]) for id_, n in sorted(kinds.items()))
    levels = tuple(_level(found, level, title, says, counts[level]) for level, title, says in _LEVELS)
    return DiffPage(found.old, found.new, sum(counts.values()), levels, table, found.notes)


def _level(found: Comparison, level: Level, title: str, says: str, operators: int) -> LevelView:
    kept, folds = folded(change for change in found.changes if change.level is level)
    return LevelView(
        str(level), title, says, operators, tuple(_views(found, (c for c in kept if is_public(c)))),
        tuple(_views(found, (c for c in kept if not is_public(c)))), tuple(folds),
    )  # fmt: skip


def _views(found: Comparison, changes: Iterable[Change]) -> Iterable[ChangeView]:
    for change in sorted(changes, key=lambda c: (c.op, c.id)):
        schemas = change.detail.get("schema")
        old, new = (str(schemas[0]), str(schemas[1])) if isinstance(schemas, list) else (change.old, change.new)
        pieces = marked(old, new) if old and new else (((False, old or ""),), ((False, new or ""),))
        yield ChangeView(
            str(change.level), change.id, change.op.removeprefix("aten::"), change.reason,
            SideView(pieces[0], _receipt(change, "old", found.old_web)) if old else None,
            SideView(pieces[1], _receipt(change, "new", found.new_web)) if new else None,
        )  # fmt: skip


def _receipt(change: Change, side: str, web: str) -> Receipt | None:
    place = next((p for p in change.places if p.side == side), None)
    return Receipt(at(place.path, place.line), f"{web}/{quote(place.path)}#L{place.line}") if place else None


def standalone(found: Comparison) -> str:
    """The page as one file: its style is inside, it links to nothing but the pinned lines on the web."""
    style = (resources.folder("site") / "style.css").read_text(encoding="utf-8")
    return create().get_template("diff.html.jinja2").render(view=view_of(found), style=style)
