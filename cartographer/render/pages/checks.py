# SPDX-License-Identifier: BSD-3-Clause
"""The page of sources and checks: what was read, how well, and what could not be told."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.model.operator import Status
from cartographer.render import urls
from cartographer.render.pages.frame import Link, Page, Receipt
from cartographer.store.counts import COUNTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.model.atlas import Unresolved
    from cartographer.render.site import Site
    from cartographer.store.values import Count
    from cartographer.store.verified import Verified

ROWS = 500
_ORDER = {name: number for number, (name, _says, _statement) in enumerate(COUNTS)}
UNRESOLVED = "checks/unresolved.html"


@dataclass(frozen=True, slots=True)
class LanguageRow:
    """How well the files of one language could be read."""

    language: str
    files: int
    lines: int
    clean: int
    error_nodes: int
    share: str


@dataclass(frozen=True, slots=True)
class WorstFile:
    """A file with many places that the grammar does not understand."""

    link: Link
    nodes: int
    share: str


@dataclass(frozen=True, slots=True)
class BackendRow:
    """How many chains of one backend are resolved."""

    backend: str
    resolved: int
    none: int | None  # None: only what has a kernel was followed
    unresolved: int


@dataclass(frozen=True, slots=True)
class ReasonRow:
    """A reason why something is not known, and how often it is given."""

    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class ChecksPage:
    """The content of the page of sources and checks."""

    kind: str
    described: str
    commit: Link | None
    tool: str
    schema: int
    strata: str
    counts: tuple[Count, ...]
    languages: tuple[LanguageRow, ...]
    worst: tuple[WorstFile, ...]
    backends: tuple[BackendRow, ...]
    reasons: tuple[ReasonRow, ...]
    unresolved: int
    sheets: tuple[Link, ...]
    verified: Verified | None
    notes: tuple[tuple[str, Link], ...]


@dataclass(frozen=True, slots=True)
class UnresolvedRow:
    """One thing that could not be told, with the reason and the place."""

    stage: str
    subject: str
    address: str | None
    reason: str
    receipt: Receipt | None


@dataclass(frozen=True, slots=True)
class UnresolvedSheet:
    """One sheet of the list of things that could not be told."""

    number: int
    sheets: tuple[Link, ...]
    rows: tuple[UnresolvedRow, ...]
    total: int


def count_of_sheets(total: int) -> int:
    """The number of sheets for a list of so many unresolved things."""
    return -(-total // ROWS)


def build(site: Site) -> Page:
    """The page of sources and checks."""
    catalog, info = site.catalog, site.catalog.info
    source = info.source
    files = sorted((f for f in catalog.files if f.error_nodes), key=lambda f: (-f.error_bytes, f.path))[:20]
    view = ChecksPage(
        kind=source.kind.value,
        described=source.described,
        commit=Link(source.commit, site.links.commit(source.commit)) if source.commit else None,
        tool=info.tool_version,
        schema=info.schema,
        strata=info.strata_level + (f": {info.strata_reason}" if info.strata_reason else ""),
        counts=tuple(sorted(info.counts, key=lambda count: _ORDER.get(count.name, len(_ORDER)))),
        languages=_languages(site),
        worst=tuple(
            WorstFile(Link(f.path, site.file(f.path)), f.error_nodes, f"{100 * f.error_bytes / max(1, f.size):.1f}") for f in files
        ),
        backends=_backends(site),
        reasons=_reasons(catalog.unresolved),
        unresolved=len(catalog.unresolved),
        sheets=_sheets(site),
        verified=site.verified,
        notes=tuple((note, Link(f.path, site.file(f.path))) for f in catalog.files for note in f.notes)[:200],
    )
    return Page(
        address=urls.CHECKS,
        template="checks.html.jinja2",
        title="Sources and checks",
        description=f"What was read for this atlas of PyTorch {source.version}, how well, and what could not be told.",
        plate=urls.CHECKS,
        view=view,
        says="About the atlas itself: no floor.",
    )


def unresolved_sheet(site: Site, number: int) -> Page:
    """The page of one sheet of unresolved things; `number` counts from 1."""
    part = site.catalog.unresolved[(number - 1) * ROWS : number * ROWS]
    sheets = _sheets(site)
    view = UnresolvedSheet(number, sheets, tuple(_row(site, entry) for entry in part), len(site.catalog.unresolved))
    return Page(
        address=urls.sheet(UNRESOLVED, number),
        template="unresolved.html.jinja2",
        title=f"Unresolved, sheet {number}" if len(sheets) > 1 else "Unresolved",
        description="Everything that this atlas could not tell, with the reasons.",
        plate=urls.CHECKS,
        view=view,
        crumbs=(Link("Checks", urls.CHECKS),),
        says="About the atlas itself: no floor.",
    )


def _sheets(site: Site) -> tuple[Link, ...]:
    total = len(site.catalog.unresolved)
    return tuple(
        Link(f"{(number - 1) * ROWS + 1:,} to {min(number * ROWS, total):,}", urls.sheet(UNRESOLVED, number))
        for number in range(1, count_of_sheets(total) + 1)
    )


def _row(site: Site, entry: Unresolved) -> UnresolvedRow:
    name = entry.subject.split(" ")[0].rstrip(",:")
    link = site.operator(name) or site.operator(f"aten::{name}")
    receipt = site.receipt(entry.path, entry.line) if entry.path else None
    return UnresolvedRow(entry.stage, entry.subject, link.address if link else None, entry.reason, receipt)


def _languages(site: Site) -> tuple[LanguageRow, ...]:
    groups: dict[str, list[tuple[int, int, int, int]]] = {}
    for entry in site.catalog.files:
        groups.setdefault(entry.language, []).append((entry.lines, entry.error_nodes, entry.error_bytes, entry.size))
    rows = []
    for language in sorted(groups, key=lambda name: -sum(row[0] for row in groups[name])):
        found = groups[language]
        share = 100 * sum(row[2] for row in found) / max(1, sum(row[3] for row in found))
        clean = sum(not row[1] for row in found)
        rows.append(LanguageRow(language, len(found), sum(r[0] for r in found), clean, sum(r[1] for r in found), f"{share:.2f}"))
    return tuple(rows)


def _backends(site: Site) -> tuple[BackendRow, ...]:
    counts: dict[str, Counter[Status]] = defaultdict(Counter)
    for op in site.catalog.operators:
        for backend, chain in op.kernels.items():
            counts[backend][chain.status] += 1
    passed = {key for op in site.catalog.operators for key in op.dispatch if key not in op.kernels}
    rows = [BackendRow(b, c[Status.RESOLVED], None if b in passed else c[Status.NONE], c[Status.UNRESOLVED]) for b, c in counts.items()]
    return tuple(sorted(rows, key=lambda row: (-(row.resolved + row.unresolved), row.backend)))


def _reasons(unresolved: Sequence[Unresolved]) -> tuple[ReasonRow, ...]:
    counts: dict[str, int] = {}
    for entry in unresolved:
        counts[entry.reason] = counts.get(entry.reason, 0) + 1
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(ReasonRow(reason, count) for reason, count in ordered[:25])
