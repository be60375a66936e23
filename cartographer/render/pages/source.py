# SPDX-License-Identifier: BSD-3-Clause
"""The pages of folders and files: what is in them, the operators that use them, how well they could be read, how old they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cartographer.render import urls
from cartographer.render.catalog import PART
from cartographer.render.figures.treemap import Cell, treemap
from cartographer.render.pages.ages import AgeBar, age_bar
from cartographer.render.pages.frame import Link, Page, Receipt
from cartographer.render.terrain import FLOORS, floor_of, territory_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cartographer.model.atlas import FileEntry, Symbol
    from cartographer.render.catalog import Folder
    from cartographer.render.site import Site


class SymbolRow(NamedTuple):
    """A definition in a file, as the file's page lists it."""

    name: str
    kind: str
    line: int
    first: bool  # of its line: it carries the anchor
    guard: str


class Included(NamedTuple):
    """A file that this one includes or imports, or that includes it."""

    name: str
    way: str | None  # relative to the page, since these lists are long
    line: int = 0


class Shelf(NamedTuple):
    """Several files of one folder in a list of includes."""

    folder: str
    files: tuple[Included, ...]


class Living(NamedTuple):
    """An operator that uses this file, and how."""

    link: Link
    hows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Owners:
    """Who is asked to review a path, and the rule of CODEOWNERS that says so."""

    text: str
    rule: str
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class CommandRow:
    """A command that CONTRIBUTING.md gives, with its heading there."""

    heading: str
    text: str
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class FilePage:
    """The content of a file's page, or of one part when its symbols take several pages."""

    path: str
    name: str
    lines: int
    size: int
    language: str
    part: int
    parts: tuple[Link, ...]
    permalink: str
    folder: Link
    floor: str
    territory: str
    health: str
    owners: Owners | None
    notes: tuple[str, ...]
    declares: int
    living: tuple[Living, ...]
    symbols: tuple[SymbolRow, ...]
    total: int
    includes: tuple[Shelf, ...]
    included_by: tuple[Shelf, ...]
    includers: int
    age: AgeBar | None
    born: str
    changed: str
    former: tuple[str, ...]


class Entry(NamedTuple):
    """A subfolder or file as a row of a folder's page."""

    link: Link
    lines: int
    files: int
    operators: int
    health: int  # share of bytes that no grammar understood, per cent, rounded up
    language: str
    age: str  # pattern of its main era, ""
    era: str


@dataclass(frozen=True, slots=True)
class FolderPage:
    """The content of a folder's page."""

    path: str
    lines: int
    files: int
    operators: int
    floor: str
    territory: str
    permalink: str
    health: str
    owners: Owners | None
    described: Receipt | None  # where the map in CONTRIBUTING.md names it
    commands: tuple[CommandRow, ...]
    cells: tuple[Cell, ...]
    folders: tuple[Entry, ...]
    entries: tuple[Entry, ...]
    age: AgeBar | None


def build_file(site: Site, path: str) -> list[Page]:
    """The pages of one file: mostly one; a long list of symbols takes several."""
    return [_file(site, path, part) for part in range(1, site.parts(path) + 1)]


def _file(site: Site, path: str, part: int) -> Page:
    catalog = site.catalog
    entry = catalog.by_path[path]
    symbols = catalog.symbols.get(path, ())
    dates = catalog.ground.file(path)
    floor = floor_of(path)
    folder = path.rpartition("/")[0]
    first = part == 1
    count = site.parts(path)
    name = path.rpartition("/")[2]
    view = FilePage(
        path=path,
        name=name,
        lines=entry.lines,
        size=entry.size,
        language=entry.language,
        part=part,
        parts=tuple(Link(_span(symbols, number), site.file(path, number)) for number in range(1, count + 1)) if count > 1 else (),
        permalink=site.links.line(path, 0),
        folder=Link(folder or "the root", site.folder(folder)),
        floor=FLOORS[floor - 1] if floor else "",
        territory=territory_of(path).name,
        health=_health(entry),
        owners=_owners(site, path),
        notes=entry.notes,
        declares=_declares(site, path),
        living=_living(site, path) if first else (),
        symbols=_symbols(symbols[(part - 1) * PART : part * PART]),
        total=len(symbols),
        includes=_includes(site, entry) if first else (),
        included_by=_included_by(site, path) if first else (),
        includers=len(catalog.included_by.get(path, ())),
        age=age_bar(catalog.ground, catalog.ground.by_file.get(path)),
        born=dates.born or "" if dates else "",
        changed=dates.changed or "" if dates else "",
        former=dates.former_names if dates else (),
    )
    return Page(
        address=site.file(path, part),
        template="file.html.jinja2",
        title=f"{name} · {folder}" + (f" ({part} of {count})" if count > 1 else ""),
        description=f"{path}: {entry.lines:,} lines of {entry.language}, {len(symbols):,} symbols.",
        plate=urls.TERRITORY,
        view=view,
        crumbs=site.crumbs(path),
        floors=(floor,) if floor else (),
        says=f"This file lies on floor {floor}." if floor else "This file lies on no floor.",
        previous=site.file(path, part - 1) if part > 1 else "",
        following=site.file(path, part + 1) if part < count else "",
    )


def _symbols(symbols: Sequence[Symbol]) -> tuple[SymbolRow, ...]:
    rows, seen = [], set()
    for symbol in symbols:
        name = symbol.qualname or symbol.name
        rows.append(
            SymbolRow(name, symbol.kind, symbol.line, symbol.line not in seen, " and ".join(symbol.guards))
        )
        seen.add(symbol.line)
    return tuple(rows)


def _span(symbols: Sequence[Symbol], number: int) -> str:
    part = symbols[(number - 1) * PART : number * PART]
    return f"lines {part[0].line:,} to {part[-1].line:,}"


def _includes(site: Site, entry: FileEntry) -> tuple[Shelf, ...]:
    page, found = site.file(entry.path), []
    for target, line in sorted(set(entry.includes), key=lambda pair: (pair[1], pair[0])):
        here = target in site.catalog.by_path
        found.append((target, urls.relative(page, site.file(target)) if here else None, line))
    return _shelves(found)


def _included_by(site: Site, path: str) -> tuple[Shelf, ...]:
    page = site.file(path)
    return _shelves((other, urls.relative(page, site.file(other)), 0) for other in site.catalog.included_by.get(path, ()))


def _shelves(found: Iterable[tuple[str, str | None, int]]) -> tuple[Shelf, ...]:
    """Files by folder, folders in the order in which they first come."""
    shelves: dict[str, list[Included]] = {}
    for path, way, line in found:
        folder, slash, name = path.rpartition("/")
        shelves.setdefault(folder + slash, []).append(Included(name, way, line))
    return tuple(Shelf(folder, tuple(files)) for folder, files in shelves.items())


def _living(site: Site, path: str) -> tuple[Living, ...]:
    groups: dict[str, dict[tuple[int, str], list[str]]] = {}
    for use in site.catalog.uses.get(path, ()):
        groups.setdefault(use.operator, {}).setdefault((use.line, use.how), []).append(use.key)
    page, found = site.file(path), []
    for name, hows in groups.items():
        link = site.operator(name)
        if link:
            says = tuple(_how(line, how, keys) for (line, how), keys in sorted(hows.items()))
            found.append(Living(Link(link.text, urls.relative(page, link.address)), says))
    return tuple(found)


def _how(line: int, how: str, keys: list[str]) -> str:
    named = [key for key in keys if key]
    whom = f" ({', '.join(named)})" if 0 < len(named) <= 2 else f" ({named[0]} and {len(named) - 1} more)" if named else ""
    return f"{line} {how}{whom}"


def _owners(site: Site, path: str) -> Owners | None:
    rule = site.owner(path)
    return Owners(rule.text, rule.subject, site.receipt(rule.path, rule.line)) if rule else None


def _declares(site: Site, path: str) -> int:
    count = site.catalog.declared_in.get(path, 0)
    return 0 if any(use.how == "declared" for use in site.catalog.uses.get(path, ())) else count


def _health(entry: FileEntry) -> str:
    if not entry.error_nodes:
        return "read without a parse error"
    share = 100 * entry.error_bytes / max(1, entry.size)
    return f"{entry.error_nodes} places the grammar does not understand, {share:.1f} % of the bytes; they were walked all the same"


def _folder_health(folder: Folder) -> str:
    if not folder.error_bytes:
        return "read without a parse error"
    share = 100 * folder.error_bytes / max(1, folder.size)
    return f"{f'{share:.2f}' if share >= 0.01 else 'under 0.01'} % of the bytes are in places the grammar does not understand"


def build_folder(site: Site, path: str) -> Page:
    """The page of one folder."""
    catalog = site.catalog
    folder = catalog.folders[path]
    floor = floor_of(path)
    view = FolderPage(
        path=path,
        lines=folder.lines,
        files=folder.count,
        operators=len(folder.operators),
        floor=FLOORS[floor - 1] if floor else "",
        territory=territory_of(path).name if path else "",
        permalink=site.links.tree(path),
        health=_folder_health(folder),
        owners=_owners(site, f"{path}/any file") if path else None,
        described=site.receipt(mark.path, mark.line) if (mark := catalog.described.get(path)) else None,
        commands=() if path else tuple(CommandRow(c.subject, c.text, site.receipt(c.path, c.line)) for c in catalog.commands),
        cells=treemap(site, path, depth=1),
        folders=tuple(_folder_entry(site, child) for child in folder.folders),
        entries=tuple(_file_entry(site, entry) for entry in folder.files),
        age=age_bar(catalog.ground, catalog.ground.by_folder.get(path)),
    )
    name = path or "The whole tree"
    return Page(
        address=site.folder(path),
        template="folder.html.jinja2",
        title=f"{name}/ · folder" if path else name,
        description=f"{name}: {folder.lines:,} lines in {folder.count:,} files.",
        plate=urls.TERRITORY,
        view=view,
        crumbs=site.crumbs(path) if path else (Link("Territory", urls.TERRITORY),),
        floors=(floor,) if floor else (),
        says=f"This folder lies on floor {floor}." if floor else "This folder lies on no one floor.",
    )


def _folder_entry(site: Site, path: str) -> Entry:
    folder, ground = site.catalog.folders[path], site.catalog.ground
    era = ground.main_era(ground.by_folder.get(path))
    return Entry(
        Link(path.rpartition("/")[2] + "/", site.folder(path)), folder.lines, folder.count, len(folder.operators),
        -(-100 * folder.error_bytes // max(1, folder.size)), "", f"e{ground.pattern(era)}" if era is not None else "",
        ground.eras[era].name if era is not None else "",
    )  # fmt: skip


def _file_entry(site: Site, entry: FileEntry) -> Entry:
    ground = site.catalog.ground
    era = ground.main_era(ground.by_file.get(entry.path))
    living = {use.operator for use in site.catalog.uses.get(entry.path, ())}
    return Entry(
        Link(entry.path.rpartition("/")[2], site.file(entry.path)), entry.lines, 1, len(living),
        -(-100 * entry.error_bytes // max(1, entry.size)), entry.language, f"e{ground.pattern(era)}" if era is not None else "",
        ground.eras[era].name if era is not None else "",
    )  # fmt: skip

