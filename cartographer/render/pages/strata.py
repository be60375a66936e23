# SPDX-License-Identifier: BSD-3-Clause
"""The page of ages: how old the lines are that exist today, by year and by folder, and what proves each era."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.render import urls
from cartographer.render.figures import bands
from cartographer.render.pages.ages import AgeBar, age_bar
from cartographer.render.pages.frame import Link, Page
from cartographer.render.terrain import TERRITORIES, territory_of

if TYPE_CHECKING:
    from cartographer.render.site import Site


@dataclass(frozen=True, slots=True)
class EraRow:
    """An era, with its share of today's lines."""

    name: str
    css: str
    span: str
    lines: int
    share: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A commit or file that proves an era."""

    era: str
    css: str
    what: str
    commit: Link | None
    date: str


@dataclass(frozen=True, slots=True)
class Hole:
    """The ages of one folder, as a column of eras."""

    link: Link
    lines: int
    bar: AgeBar


@dataclass(frozen=True, slots=True)
class YearRow:
    """The number of lines that came in in one year and still exist."""

    year: str
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """A commit that brought foreign code."""

    date: str
    subject: str
    commit: Link
    folder: Link | None
    surviving: int
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class StrataPage:
    """The content of the page of ages."""

    level: str
    reason: str
    figure: str
    eras: tuple[EraRow, ...]
    holes: tuple[Hole, ...]
    evidence: tuple[Evidence, ...]
    territories: tuple[str, ...]
    years: tuple[YearRow, ...]
    oldest: tuple[tuple[Link, str], ...]
    imports: tuple[Imported, ...]
    vendored: tuple[Link, ...]
    boundary: int
    dated_files: int
    files: int


def build(site: Site) -> Page:
    """The page of ages: how old the lines of this PyTorch are."""
    catalog = site.catalog
    ground = catalog.ground
    strata = ground.strata
    keys, years = _by_year(site)
    names = {territory.key: territory.name for territory in TERRITORIES}
    total = ground.by_folder.get("")
    first_seen = sorted((dates.born, path) for path, dates in strata.files.items() if dates.born and path in catalog.by_path)
    view = StrataPage(
        level=strata.level,
        reason=strata.reason,
        figure=bands.draw([(year, counts) for year, counts in years], keys, names) if len(years) > 1 else "",
        eras=_eras(site, total),
        holes=_holes(site),
        evidence=_evidence(site),
        territories=tuple(names[key] for key in keys),
        years=tuple(YearRow(year, counts) for year, counts in years),
        oldest=tuple((Link(path, site.file(path)), born) for born, path in first_seen[:12]),
        imports=_imports(site),
        vendored=tuple(Link(path, site.folder(path)) for path in strata.vendored if path in catalog.folders),
        boundary=len(strata.boundary),
        dated_files=sum(path in catalog.by_path for path in strata.files),
        files=len(catalog.files),
    )
    return Page(
        address=urls.STRATA,
        template="strata.html.jinja2",
        title="Strata",
        description=f"How old the source of PyTorch {catalog.source.version} is, folder by folder, with evidence.",
        plate=urls.STRATA,
        view=view,
        floors=(2, 3, 4, 5, 6),
        says="Old beds lie on floors 2 to 6.",
        previous=urls.TERRITORY,
        following=urls.GENERATED,
    )


def _by_year(site: Site) -> tuple[tuple[str, ...], list[tuple[str, tuple[int, ...]]]]:
    """(territories that have dated lines, [(year, lines by territory)]), oldest year first."""
    strata = site.catalog.ground.strata
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for path, dates in strata.files.items():
        key = territory_of(path).key
        for length, commit in dates.runs:
            if commit >= 0:
                counts[strata.commits[commit][1][:4]][key] += length
    keys = tuple(t.key for t in TERRITORIES if any(t.key in row for row in counts.values()))
    if not counts:
        return keys, []
    span = range(int(min(counts)), int(max(counts)) + 1)
    return keys, [(str(year), tuple(counts[str(year)].get(key, 0) for key in keys)) for year in span]


def _eras(site: Site, total: tuple[int, ...] | None) -> tuple[EraRow, ...]:
    ground = site.catalog.ground
    whole = sum(total or ()) or 1
    rows = []
    for number, era in enumerate(ground.eras):
        lines = total[number] if total else 0
        span = era.first[:4] if era.first[:4] == era.last[:4] else f"{era.first[:4]} to {era.last[:4] or 'today'}"
        rows.append(EraRow(era.name, f"e{ground.pattern(number)}", span, lines, f"{100 * lines / whole:.1f}"))
    return tuple(rows)


def _holes(site: Site) -> tuple[Hole, ...]:
    """One core for the largest dated folder at the second level of each territory, eight at most."""
    catalog, ground = site.catalog, site.catalog.ground
    depth = {"torch": 1, "csrc": 2, "aten": 3, "c10": 1, "gen": 0, "other": 0}
    best: dict[str, list[str]] = defaultdict(list)
    for path, folder in sorted(catalog.folders.items(), key=lambda pair: -pair[1].lines):
        key = territory_of(path).key
        if path and path.count("/") == depth[key] and path in ground.by_folder and folder.lines:
            best[key].append(path)
    quota = {"torch": 2, "csrc": 2, "aten": 2, "c10": 1, "gen": 1, "other": 0}
    chosen = [path for key, paths in best.items() for path in paths[: quota.get(key, 0)]]
    holes = []
    for path in sorted(chosen):
        bar = age_bar(ground, ground.by_folder.get(path))
        if bar:
            holes.append(Hole(Link(path, site.folder(path)), catalog.folders[path].lines, bar))
    return tuple(holes[:8])


def _imports(site: Site) -> tuple[Imported, ...]:
    rows = []
    for entry in site.catalog.ground.strata.imports:
        folder = Link(entry.folder, site.folder(entry.folder)) if entry.folder in site.catalog.folders else None
        commit = Link(entry.commit[:10], site.links.commit(entry.commit))
        kind = "copied: its lines bear this date" if entry.kind == "tree" else "merged with its history: its lines keep their dates"
        rows.append(Imported(entry.date[:10], entry.subject, commit, folder, entry.surviving, kind, entry.reason))
    return tuple(sorted(rows, key=lambda row: (-row.surviving, row.date)))


def _evidence(site: Site) -> tuple[Evidence, ...]:
    ground = site.catalog.ground
    rows = []
    for number, era in enumerate(ground.eras):
        for what, commit, date in era.evidence:
            link = Link(commit[:10], site.links.commit(commit)) if commit else None
            rows.append(Evidence(era.name, f"e{ground.pattern(number)}", what, link, date))
    return tuple(rows)
