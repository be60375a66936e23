# SPDX-License-Identifier: BSD-3-Clause
"""The page of folders: all of them by lines, as a treemap that can be zoomed, with a panel for the selected folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cartographer.render import urls
from cartographer.render.figures.treemap import Cell, main_language, treemap
from cartographer.render.pages.frame import Link, Page
from cartographer.render.site import language_letter
from cartographer.render.terrain import TERRITORIES, floor_of, territory_of

if TYPE_CHECKING:
    from cartographer.render.ground import Ground
    from cartographer.render.site import Site

DATA = "territory/territory-data.js"
_FILES = 6  # largest files of a folder that the zoom shows one by one
_SMALL = 250  # lines


@dataclass(frozen=True, slots=True)
class Row:
    """A top folder in the table that says the same as the treemap."""

    link: Link
    lines: int
    files: int
    operators: int
    parts: tuple[tuple[Link, int], ...]


@dataclass(frozen=True, slots=True)
class TerritoryPage:
    """The content of the page of folders."""

    lines: int
    files: int
    folders: int
    cells: tuple[Cell, ...]
    rows: tuple[Row, ...]
    whole: Link
    colours: tuple[str, ...]
    eras: tuple[tuple[str, str], ...]
    territories: tuple[tuple[str, str], ...]
    data: str


def build(site: Site) -> Page:
    """The page of folders with its treemap."""
    catalog = site.catalog
    root = catalog.folders[""]
    ground = catalog.ground
    colours = ("territory", *(("stratum",) if ground.dated else ()), "floor", "language", "health")
    view = TerritoryPage(
        lines=root.lines,
        files=root.count,
        folders=len(catalog.folders) - 1,
        cells=treemap(site, "", depth=3, aspect=1.55),
        rows=tuple(_row(site, path) for path in sorted(root.folders, key=lambda p: -catalog.folders[p].lines)),
        whole=Link("The whole tree as a folder", site.folder("")),
        colours=colours,
        eras=tuple((era.name, f"e{ground.pattern(number)}") for number, era in enumerate(ground.eras)) if ground.dated else (),
        territories=tuple((t.key, t.name) for t in TERRITORIES if any(territory_of(e.path) is t for e in catalog.files)),
        data=DATA,
    )
    floors = tuple(sorted({floor_of(path) for path in catalog.folders if path} - {0}))
    return Page(
        address=urls.TERRITORY,
        template="territory.html.jinja2",
        title="Territory",
        description=f"The folders of PyTorch {catalog.source.version} as a map: {root.lines:,} lines in {root.count:,} files.",
        plate=urls.TERRITORY,
        view=view,
        floors=floors,
        says=f"Folders lie on floors {floors[0]} to {floors[-1]}." if floors else "",
        scripts=("territory.js",),
        previous=urls.KERNELS,
        following=urls.STRATA,
    )


def _row(site: Site, path: str) -> Row:
    folder = site.catalog.folders[path]
    parts = sorted(folder.folders, key=lambda p: -site.catalog.folders[p].lines)[:6]
    return Row(
        Link(path + "/", site.folder(path)), folder.lines, folder.count, len(folder.operators),
        tuple((Link(p.rpartition("/")[2], site.folder(p)), site.catalog.folders[p].lines) for p in parts),
    )  # fmt: skip


def data_script(site: Site) -> bytes:
    """All folders and their largest files, for the zoom: n name, l lines, f files, o operators, h health, e era, t territory, d floor, g language."""
    body = json.dumps(_node(site, ""), separators=(",", ":"), ensure_ascii=True).replace("</", "<\\/")
    return f"window.ATLAS_TERRAIN={body};\n".encode()


def _node(site: Site, path: str) -> dict[str, Any]:
    catalog, ground = site.catalog, site.catalog.ground
    folder = catalog.folders[path]
    node: dict[str, Any] = {"n": path.rpartition("/")[2], "l": folder.lines, "f": folder.count}
    if folder.operators:
        node["o"] = len(folder.operators)
    node |= _signs(path, folder.error_bytes, folder.size, _era(ground, ground.by_folder.get(path)), main_language(site, path))
    address = site.folder(path)
    if address != f"source/{path}/index.html":
        node["a"] = urls.href(address)
    children = [_node(site, child) for child in folder.folders]
    largest = sorted(folder.files, key=lambda entry: (-entry.lines, entry.path))
    shown = [entry for entry in largest[:_FILES] if entry.lines >= _SMALL]
    for entry in shown:
        leaf: dict[str, Any] = {"n": entry.path.rpartition("/")[2], "l": entry.lines}
        letter = language_letter(entry.language)
        if (address := site.file(entry.path)) != f"source/{entry.path}.html":
            leaf["a"] = urls.href(address)
        children.append(leaf | _signs(entry.path, entry.error_bytes, entry.size, _era(ground, ground.by_file.get(entry.path)), letter))
    rest = largest[len(shown) :]
    if rest:
        children.append({"n": f"{len(rest)} smaller files" if shown else f"{len(rest)} files", "l": sum(e.lines for e in rest), "r": 1})
    if children:
        node["c"] = children
    return node


def _signs(path: str, errors: int, size: int, era: int, language: str) -> dict[str, Any]:
    share = errors / max(1, size)
    signs: dict[str, Any] = {"t": territory_of(path).key, "d": floor_of(path), "g": language}
    if errors:
        signs["h"] = 1 if share < 0.01 else 2 if share < 0.05 else 3
    if era:
        signs["e"] = era
    return signs


def _era(ground: Ground, counts: tuple[int, ...] | None) -> int:
    era = ground.main_era(counts)
    return 0 if era is None else ground.pattern(era)
