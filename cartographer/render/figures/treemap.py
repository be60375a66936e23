# SPDX-License-Identifier: BSD-3-Clause
"""Computes squarified treemaps of folders by lines, as positioned links (Bruls, Huizing and van Wijk, 2000)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.render.site import language_letter
from cartographer.render.terrain import floor_of, territory_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.render.site import Site

Box = tuple[float, float, float, float]

_MOST = 44  # cells of one folder; the rest is one dashed cell
_SMALLEST = 0.0016  # of the whole plate


@dataclass(frozen=True, slots=True)
class Cell:
    """One rectangle of a treemap; its position and size are in per cent of the whole."""

    name: str
    path: str
    address: str | None
    lines: int
    kind: str  # "region", "folder", "file" or "rest"
    box: tuple[str, str, str, str]
    territory: str
    floor: int
    language: str
    health: int
    era: str


@dataclass(frozen=True, slots=True)
class Piece:
    """What a cell is for: a folder, a file, or the rest that is too small to draw; with its size in lines."""

    name: str
    path: str
    lines: int
    kind: str


def treemap(site: Site, path: str, *, depth: int, box: Box = (0.0, 0.0, 100.0, 100.0), aspect: float = 1.5) -> tuple[Cell, ...]:
    """The cells of a folder, parents before children; `depth` levels deep, `aspect` is width to height of the plate."""
    pieces = pieces_of(site, path)
    cells: list[Cell] = []
    for piece, area in zip(pieces, squarify([piece.lines for piece in pieces], box, aspect), strict=True):
        inner = depth > 1 and piece.kind == "folder" and area[2] > 8 and area[3] > 14
        cells.append(_cell(site, piece, area, region=inner))
        if inner:
            x, y, width, height = area
            top = min(3.7, height * 0.3)
            cells.extend(
                treemap(site, piece.path, depth=depth - 1, box=(x + 0.3, y + top, width - 0.6, height - top - 0.4), aspect=aspect)
            )
    return tuple(cells)


def pieces_of(site: Site, path: str) -> list[Piece]:
    """What is in a folder, largest first; the smallest are put together as one piece."""
    folder = site.catalog.folders[path]
    found = [_straight(site, child) for child in folder.folders]
    found += [Piece(entry.path.rpartition("/")[2], entry.path, entry.lines, "file") for entry in folder.files]
    found = sorted((piece for piece in found if piece.lines), key=lambda piece: (-piece.lines, piece.path))
    total = sum(piece.lines for piece in found)
    kept = [piece for number, piece in enumerate(found) if number < _MOST and piece.lines >= total * _SMALLEST]
    rest = found[len(kept) :]
    if len(rest) == 1:
        kept += rest
    elif rest:
        kept.append(Piece(f"{len(rest)} smaller", path, sum(piece.lines for piece in rest), "rest"))
    return kept


def _straight(site: Site, path: str) -> Piece:
    """A folder; where nearly all of it is one folder inside, that one: `aten/src/ATen` for `aten`."""
    folders = site.catalog.folders
    lines, end = folders[path].lines, path
    while inner := next((child for child in folders[end].folders if folders[child].lines >= 0.97 * lines), None):
        end = inner
    return Piece(end[path.rfind("/") + 1 :], end, lines, "folder")


def squarify(sizes: Sequence[int], box: Box, aspect: float = 1.0) -> list[Box]:
    """Rectangles of the given sizes (largest first) that fill `box`, as square as possible."""
    x, y, width, height = box
    total = sum(sizes)
    if not total:
        return []
    scale = width * aspect * height / total
    areas = [size * scale for size in sizes]
    left, top, wide, high = x * aspect, y, width * aspect, height
    found: list[Box] = []
    start = 0
    while start < len(areas):
        side = min(wide, high)
        end = start + 1
        while end < len(areas) and _worst(areas[start : end + 1], side) <= _worst(areas[start:end], side):
            end += 1
        row = areas[start:end]
        thick = sum(row) / side if side else 0.0
        offset = 0.0
        for area in row:
            length = area / thick if thick else 0.0
            if wide >= high:
                found.append((left, top + offset, thick, length))
            else:
                found.append((left + offset, top, length, thick))
            offset += length
        if wide >= high:
            left, wide = left + thick, wide - thick
        else:
            top, high = top + thick, high - thick
        start = end
    return [(bx / aspect, by, bw / aspect, bh) for bx, by, bw, bh in found]


def _worst(row: Sequence[float], side: float) -> float:
    total = sum(row)
    if not total or not side:
        return float("inf")
    return max(max(side * side * area / (total * total), total * total / (side * side * area)) for area in row if area)


def _cell(site: Site, piece: Piece, area: Box, *, region: bool) -> Cell:
    catalog = site.catalog
    ground = catalog.ground
    language, size, errors = "", 1, 0
    if piece.kind == "file":
        entry = catalog.by_path[piece.path]
        address: str | None = site.file(piece.path)
        language, size, errors = language_letter(entry.language), entry.size, entry.error_bytes
        counts = ground.by_file.get(piece.path)
    else:
        folder = catalog.folders[piece.path]
        address = None if piece.kind == "rest" else site.folder(piece.path)
        size, errors = folder.size, folder.error_bytes
        language = main_language(site, piece.path)
        counts = ground.by_folder.get(piece.path)
    era = ground.main_era(counts)
    share = errors / max(1, size)
    return Cell(
        name=piece.name,
        path=piece.path,
        address=address,
        lines=piece.lines,
        kind="region" if region else piece.kind,
        box=(f"{area[0]:.3f}", f"{area[1]:.3f}", f"{area[2]:.3f}", f"{area[3]:.3f}"),
        territory=territory_of(piece.path).key,
        floor=floor_of(piece.path),
        language=language,
        health=0 if not errors else 1 if share < 0.01 else 2 if share < 0.05 else 3,
        era=f"e{ground.pattern(era)}" if era is not None else "",
    )


def main_language(site: Site, path: str) -> str:
    """The language of most lines in a folder, as the style sheet's letter."""
    return site.languages.get(path, "o")

