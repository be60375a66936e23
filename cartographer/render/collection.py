# SPDX-License-Identifier: BSD-3-Clause
"""Draws what a folder of several atlases, `<tag>/` each, has beside them: the list, the version switcher's data, plates of releases.

Pages of an atlas know nothing of the other atlases but that the folder above lists them; when one is added only the few
files here change. The switcher finds the same page elsewhere by `pages/<part>.js`: which releases have which pages.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.atomic import write_whole
from cartographer.errors import RenderError
from cartographer.render import assets
from cartographer.render.environment import create
from cartographer.render.frames import SiteFrame
from cartographer.render.known import LIST, KnownPages, digest_of, write_status
from cartographer.render.site import plates
from cartographer.render.terrain import FLOORS
from cartographer.render.urls import LINES, RELEASES
from cartographer.render.write import to_html

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cartographer.model.source import SourceInfo
    from cartographer.render.pages.frame import Page

PAGES = "pages"
_PART = b"ATLAS_PAGES["  # a list of the switcher begins so


@dataclass(frozen=True, slots=True)
class Shelved:
    """One atlas of the folder, as the list of atlases shows it."""

    tag: str
    source: str  # git, directory, wheel
    commit: str
    operators: int
    files: int
    pages: bool
    before: str = ""  # the tag that its plate compares it with
    breaks: int = 0
    maybe: int = 0
    info: int = 0
    bookkeeping: int = 0


def list_files(shelved: Sequence[Shelved]) -> dict[str, bytes]:
    """The page that lists the atlases of a folder and its assets, by address; `shelved` newest first."""
    addresses, contents = assets.collect()
    page = create().get_template("collection.html.jinja2").render(shelved=shelved, assets=addresses)
    return {**contents, "index.html": page.encode()}


def draw_list(root: Path, shelved: Sequence[Shelved]) -> None:
    """Write the page that lists the atlases of a folder, and the files of the switcher; `shelved` newest first."""
    wanted = {**list_files(shelved), **switcher_files({one.tag: KnownPages.of(root / one.tag) for one in shelved if one.pages})}
    try:
        for address, data in wanted.items():
            _put(root / address, data)
        for path in (*(root / PAGES).glob("*.js"), *(root / assets.FOLDER).glob("*")):
            if f"{path.parent.name}/{path.name}" not in wanted and _is_ours(path):
                path.unlink()
    except OSError as error:
        raise RenderError(f"the list of releases cannot be written: {error.strerror or error}", where=error.filename or str(root)) from error


def _is_ours(path: Path) -> bool:
    """Whether a file beside the list's own is an earlier one of them: the folder may hold pages and assets of others."""
    if path.parent.name == assets.FOLDER:
        return assets.is_asset(path.name)
    with path.open("rb") as file:
        return file.read(len(_PART)) == _PART


def part_of(address: str) -> str:
    """The part of the switcher's lists that contains a page: operators, a top folder of the source, the rest."""
    first, _, rest = address.partition("/")
    if first == "source" and "/" in rest:
        return "source-" + "".join(c if c.isalnum() else "-" for c in rest.partition("/")[0].lower())
    return first if first == "op" else "rest"


def switcher_files(pages: Mapping[str, KnownPages]) -> dict[str, bytes]:
    """The switcher's data: releases.js, and for each part of the sites which releases have which pages; `pages` by tag, newest first."""
    having: dict[str, dict[str, list[int]]] = {}
    for number, known in enumerate(pages.values()):
        for address in known.digests:
            if address.endswith(".html"):
                having.setdefault(part_of(address), {}).setdefault(address.removesuffix(".html"), []).append(number)
    files = {LIST: f"var ATLAS_RELEASES={_json([*pages])},ATLAS_PAGES={{}};\n".encode()}
    for part, releases_of in having.items():
        groups: dict[tuple[int, ...], list[str]] = {}
        for address in sorted(releases_of):
            groups.setdefault(tuple(releases_of[address]), []).append(address)
        told = [[list(numbers), _folded(found)] for numbers, found in sorted(groups.items())]
        files[f"{PAGES}/{part}.js"] = f'ATLAS_PAGES["{part}"]={_json(told)};\n'.encode()
    return files


def _folded(addresses: Sequence[str]) -> dict[str, str]:
    """Folder -> the names in it, joined by spaces (no address has one): a third of the size."""
    folders: dict[str, list[str]] = {}
    for address in addresses:
        folder, _, name = address.rpartition("/")
        folders.setdefault(folder, []).append(name)
    return {folder: " ".join(names) for folder, names in folders.items()}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("</", "<\\/")


def plate_files(source: SourceInfo, page: Page, known: KnownPages) -> dict[str, bytes]:
    """The page of what changed in a release, for a site that has the pages `known`, and the assets that it needs."""
    addresses, contents = assets.collect()
    frame = SiteFrame(source.version, source.tag, source.commit or "", plates(lines=LINES in known.digests), collected=True, assets=addresses, floors=FLOORS)
    return {RELEASES: to_html(create(), frame, page), **contents}


def draw_plate(out: Path, source: SourceInfo, page: Page) -> None:
    """Draw the page of what changed in a release into an existing site, and add it to the site's own list of files."""
    known = KnownPages.of(out)
    drawn = plate_files(source, page, known)
    try:
        for address, data in drawn.items():
            _put(out / address, data)
        write_status(out, {**known.digests, **{address: digest_of(data) for address, data in drawn.items()}})
    except OSError as error:
        raise RenderError(f"the plate of releases cannot be written: {error.strerror or error}", where=error.filename or str(out)) from error


def _put(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, unless it is there already."""
    try:
        if path.read_bytes() == data:
            return
    except OSError:
        path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, data)


def is_collection(folder: Path) -> bool:
    """Whether a folder contains the list of several atlases."""
    return (folder / LIST).is_file()
