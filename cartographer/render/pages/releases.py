# SPDX-License-Identifier: BSD-3-Clause
"""The page of what changed between two releases: in the newer one's atlas, or as a single file that needs no other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from cartographer import resources
from cartographer.model.change import folded, is_public
from cartographer.model.kinds import ORDER, Part, operators_by_part, part_of, title
from cartographer.model.marking import marked
from cartographer.render import urls
from cartographer.render.environment import create
from cartographer.render.pages.frame import Link, Page, Receipt, at
from cartographer.render.terrain import ALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cartographer.model.change import Change, Comparison
    from cartographer.model.lineage import Lineage
    from cartographer.model.marking import Pieces
    from cartographer.render.site import Site

_PARTS = (
    (Part.BREAK, "Breaks", "break", "Old calls can fail."),
    (Part.MAYBE, "May break", "may break", "For some: overriding subclasses, registered kernels, serialized programs, gradients."),
    (Part.INFO, "Information", "are for information", "What is new, and kernels that came or have other code. Nothing to do."),
    (Part.BOOKKEEPING, "Bookkeeping", "more in bookkeeping alone", "PyTorch writes the same down otherwise: tags, flags, files, layers. No call meets it."),
)

_FOLDS = 40


@dataclass(frozen=True, slots=True)
class SideView:
    """One side of a change: its text in pieces, marked where it differs, and its place."""

    pieces: Pieces
    receipt: Receipt | None


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One change with both sides; the first change of an operator has its `anchor`."""

    level: str
    kinds: str  # in words
    op: str
    reason: str
    old: SideView | None
    new: SideView | None
    anchor: str = ""
    address: str | None = None  # of the operator, in the newer atlas, or in the older one where it went


@dataclass(frozen=True, slots=True)
class Named:
    """An operator in a group of changes; `reason` is set when the group has no common one."""

    op: str
    anchor: str
    address: str | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Changes that are shown without sides, for one common reason or each with its own."""

    reason: str  # common to all; "" when each has its own
    internal: bool  # internal and generated operators
    operators: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class KindView:
    """The changes of one kind that are shown without sides, behind one line: `total` counts those that a fold hides too."""

    title: str
    total: int
    groups: tuple[Group, ...]
    folds: tuple[tuple[str, int], ...]  # why, how many

    @property
    def told(self) -> tuple[tuple[str, int], ...]:
        """The folds that are listed: nobody reads the code of a thousand functions by name."""
        return self.folds[:_FOLDS]

    @property
    def rest(self) -> tuple[int, int]:
        """The number of changes, and of reasons, in the folds that are not listed."""
        return sum(number for _, number in self.folds[_FOLDS:]), len(self.folds[_FOLDS:])

    @property
    def internal(self) -> bool:
        """Whether none of the operators in the changes is public."""
        return not self.folds and all(group.internal for group in self.groups)


@dataclass(frozen=True, slots=True)
class PartView:
    """One part of the page: changes of public names with both sides, and by kind those that many operators share or that only inform."""

    key: str
    title: str
    counted: str  # "4 break"
    says: str
    operators: int  # whose gravest changes are in this part
    changes: int
    public: tuple[ChangeView, ...]
    kinds: tuple[KindView, ...]


@dataclass(frozen=True, slots=True)
class DiffPage:
    """The content of a comparison's page."""

    old: str
    new: str
    operators: int  # without those in bookkeeping alone
    parts: tuple[PartView, ...]
    kinds: tuple[tuple[str, str, tuple[int, ...]], ...]  # in words, the id, how many in each part
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The atlas of the release before or after, in the same folder of atlases."""

    tag: str
    folder: str  # its address from the root of this site: `../v1.6.0/`


@dataclass(frozen=True, slots=True)
class Plate:
    """The content of the page of one release among others."""

    tag: str
    diff: DiffPage | None
    whole: bool  # kernels and bindings are compared too
    before: Neighbour | None
    after: Neighbour | None
    releases: tuple[str, ...]  # that operators were followed over
    unread: tuple[str, ...]
    collected: bool
    wheel: bool  # one side of the comparison was read from a wheel


def build(site: Site) -> Page:
    """The page of changes as a build draws it, from the operator lists; in a folder of atlases it is drawn again from both atlases."""
    def where(name: str) -> str | None:
        link = site.operator(name)
        return link.address if link else None

    return plate(site.catalog.source.tag, site.found, site.lineage, where, collected=site.collected)


def plate(
    tag: str, found: Comparison | None, lineage: Lineage, where: Callable[[str], str | None], *, collected: bool, whole: bool = False,
    before: Neighbour | None = None, after: Neighbour | None = None, wheel: bool = False,
) -> Page:
    """The page of one release: what changed since the one before, and links to its neighbours."""
    view = Plate(tag, view_of(found, where) if found else None, whole, before, after, lineage.releases, lineage.unread, collected, wheel)
    says = f"What changed in PyTorch's operators from {found.old} to {found.new}." if found else f"Releases of PyTorch around {tag}."
    return Page(
        urls.RELEASES, "releases.html.jinja2", f"{found.old} to {found.new}" if found else "Releases", says, urls.RELEASES, view,
        crumbs=(Link("The whole map", urls.MAP),), floors=ALL, says="Releases lie across all floors.",
    )  # fmt: skip


def anchors(found: Comparison | None) -> frozenset[str]:
    """The operators that have an anchor on a page of changes."""
    changes = found.changes if found else ()
    return frozenset(c.op for part in Part for c in folded(c for c in changes if part_of(c) is part)[0])


def anchor(op: str) -> str:
    """The anchor of an operator on a page of changes."""
    return f"op-{op.removeprefix('aten::')}"


def view_of(found: Comparison, where: Callable[[str], str | None] = lambda _: None) -> DiffPage:
    """The content of a comparison's page."""
    counts = operators_by_part(found)
    kinds: dict[str, Counter[Part]] = {}
    for change in found.changes:
        kinds.setdefault(change.id, Counter())[part_of(change)] += 1
    table = tuple((title(id_), id_, tuple(n[part] for part, *_ in _PARTS)) for id_, n in sorted(kinds.items()))
    seen: set[str] = set()
    parts = tuple(_part(found, row, counts[row[0]], where, seen) for row in _PARTS)
    return DiffPage(found.old, found.new, sum(counts.values()) - counts[Part.BOOKKEEPING], parts, table, found.notes)


def _part(found: Comparison, row: tuple[Part, str, str, str], operators: int, where: Callable[[str], str | None], seen: set[str]) -> PartView:
    part, heading, counted, says = row
    changes = [change for change in found.changes if part_of(change) is part]
    kept, folds = folded(changes)
    alike = Counter(_shared(change) for change in kept)
    shown = [c for c in kept if is_public(c) and part > Part.INFO and (not _is_short(c) or alike[_shared(c)] < _MANY)]
    public = tuple(_views(found, shown, where, seen))
    apart = {id(change) for change in shown}
    rest = [c for c in kept if id(c) not in apart]
    kinds = []
    for kind in sorted({c.id for c in rest} | {id_ for id_, _, _ in folds}, key=lambda id_: (ORDER.index(id_) if id_ in ORDER else len(ORDER), id_)):
        own, hidden = [c for c in rest if c.id == kind], tuple((why, number) for id_, why, number in folds if id_ == kind)
        kinds.append(KindView(title(kind), len(own) + sum(number for _, number in hidden), tuple(_groups(own, alike, where, seen)), hidden))
    return PartView(str(part), heading, counted, says, operators, len(changes), public, tuple(kinds))


_FEW, _MANY, _SHORT = 3, 8, 80  # more stand under one heading; so many make a group; texts so short say little side by side


def _shared(change: Change) -> tuple[str, str, bool]:
    return change.id, change.reason, not is_public(change)


def _is_short(change: Change) -> bool:
    return "schema" not in change.detail and not change.id.startswith("derivative-") and len(change.old or "") + len(change.new or "") < _SHORT


def _groups(
    changes: Iterable[Change], alike: Counter[tuple[str, str, bool]], where: Callable[[str], str | None], seen: set[str],
) -> Iterator[Group]:
    """Changes of one kind; those that share their reason with many stand together, the reason once."""
    found: dict[tuple[bool, str], list[Change]] = {}
    for change in changes:
        internal = not is_public(change)
        reason = change.reason if alike[_shared(change)] > _FEW else ""
        found.setdefault((internal, reason), []).append(change)
    for internal, reason in sorted(found, key=lambda key: (key[0], -len(found[key]), key[1])):
        rows = []
        for change in sorted(found[internal, reason], key=lambda c: c.op):
            first = change.op not in seen
            seen.add(change.op)
            own = "" if reason else change.reason
            rows.append(Named(change.op.removeprefix("aten::"), anchor(change.op) if first else "", where(change.op), own))
        yield Group(reason, internal, tuple(rows))


def _views(found: Comparison, changes: Iterable[Change], where: Callable[[str], str | None], seen: set[str]) -> Iterator[ChangeView]:
    together: dict[tuple[str, str, str, str], list[Change]] = {}  # what two sides show of one operator is shown once
    for change in sorted(changes, key=lambda c: (c.op, c.id)):
        old, new = _texts(change)
        together.setdefault((change.op, old, new, "" if old or new else change.id), []).append(change)
    for (_, old, new, _), same in together.items():
        change = same[0]
        pieces = marked(old, new) if old and new else (((False, old),), ((False, new),))
        first = change.op not in seen
        seen.add(change.op)
        yield ChangeView(
            str(change.level), ", ".join(dict.fromkeys(title(c.id) for c in same)), change.op.removeprefix("aten::"), "; ".join(dict.fromkeys(c.reason for c in same)),
            SideView(pieces[0], _receipt(change, "old", found.old_web)) if old else None,
            SideView(pieces[1], _receipt(change, "new", found.new_web)) if new else None,
            anchor(change.op) if first else "", where(change.op),
        )  # fmt: skip


def _texts(change: Change) -> tuple[str, str]:
    """What stands on the two sides: the whole schemas where there are any."""
    schemas = change.detail.get("schema")
    return (str(schemas[0]), str(schemas[1])) if isinstance(schemas, list) else (change.old or "", change.new or "")


def _receipt(change: Change, side: str, web: str) -> Receipt | None:
    place = next((p for p in change.places if p.side == side), None)
    return Receipt(at(place.path, place.line), f"{web}/{quote(place.path)}#L{place.line}") if place else None


def standalone(found: Comparison) -> str:
    """A comparison as one HTML file: its style is inside, and it links only to pinned lines on the web."""
    style = (resources.folder("site") / "style.css").read_text(encoding="utf-8")
    return create().get_template("diff.html.jinja2").render(view=view_of(found), style=style, root="")
