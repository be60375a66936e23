# SPDX-License-Identifier: BSD-3-Clause
"""Makes the pages that a served folder has no files for: those of releases that are only a database, and the lists that lead to them.

Everything is drawn from the databases at the moment when it is asked for, and nothing is written. A release that its build
drew is read from its files; only what speaks of its neighbours is drawn anew where one of these has no files of its own.
"""

from __future__ import annotations

import gc
import os
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from cartographer.errors import CartographerError
from cartographer.pipeline.building import has_pages
from cartographer.pipeline.collection import is_shelf, shelf, shelved, state_of
from cartographer.pipeline.plates import plate_of, sides_of
from cartographer.pipeline.recent import Recent
from cartographer.processes import collector_at_rest
from cartographer.render import assets, collection, demand
from cartographer.render.known import LIST, STATUS, KnownPages
from cartographer.render.lost import lost_page
from cartographer.render.urls import RELEASES
from cartographer.store import database, verified
from cartographer.store.doubt import doubting
from cartographer.store.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")

SITES = 3  # read whole and kept: the largest take 250 MB each
PLATES = 12
_OUTLINES = 100
_LISTS = ("index.html", LIST, collection.PAGES, assets.FOLDER)  # what stands beside the folders of releases


class Undrawn:
    """The pages that a served folder has no files for: called with an address, it gives the page's bytes, or None to serve the file on disk."""

    def __init__(self, root: Path) -> None:
        """Serve `root`: an atlas, or a folder that lists several."""
        self.root = root
        self._sites: Recent[demand.OnDemand] = Recent(SITES)
        self._plates: Recent[dict[str, bytes]] = Recent(PLATES)
        self._pages: Recent[KnownPages] = Recent(_OUTLINES)
        self._lists: Recent[dict[str, bytes]] = Recent(2)  # the page, and what the switcher reads
        self._shelves: Recent[tuple[Path, ...]] = Recent(1)

    def __call__(self, address: str) -> bytes | None:
        """The file at an address below the root. Raises CartographerError for an atlas that cannot be read."""
        if not is_shelf(self.root):
            return self._file(self.root, address)
        name, _, rest = address.partition("/")
        if rest and self._holds_atlas(self.root / name):
            return self._file(self.root / name, rest)
        return self._listed(address) if name in _LISTS else None

    def lost(self, address: str) -> bytes:
        """The page for an address at which there is none, with the ways back into the atlas that was asked."""
        if not is_shelf(self.root):
            return lost_page("", "/", collected=False)
        name = address.partition("/")[0]
        asked = name if name and self._holds_atlas(self.root / name) else ""
        return lost_page(asked, f"/{asked}/" if asked else "", collected=True)

    def check(self, folder: Path) -> None:
        """Raise StoreError when the atlas in `folder` cannot be read."""
        with Reader(folder):
            pass

    def _holds_atlas(self, folder: Path) -> bool:
        """Whether an atlas stands in a folder: its file, and no link that leads out of what is served."""
        inside = os.path.realpath(folder / database.FILE_NAME).startswith(os.path.realpath(self.root) + os.sep)
        return inside and (folder / database.FILE_NAME).is_file()

    # One release

    def _file(self, folder: Path, address: str) -> bytes | None:
        if not self._holds_atlas(folder):
            return None
        with doubting(folder):
            if address == RELEASES and (plate := self._plate(folder)) is not None:
                return plate
            if has_pages(folder) and ((folder / address).is_file() or address not in KnownPages.of(folder).digests):
                return None
            return self._site(folder).draw(address)

    def _site(self, folder: Path) -> demand.OnDemand:
        collected = folder in self._shelf()

        def read() -> demand.OnDemand:
            with collector_at_rest():
                site = demand.open_site(folder, collected=collected)
            gc.freeze()  # a collector that went through all of it now and then would hold up a reader for a second
            return site

        return self._sites.get((folder, collected, _identity(folder)), read)

    def _plate(self, folder: Path) -> bytes | None:
        """The plate of a release that stands after another, where one of the three is not drawn."""
        folders = self._shelf()
        if folder not in folders or (number := folders.index(folder)) == 0:
            return None
        before, after = folders[number - 1], next(iter(folders[number + 1 : number + 2]), None)
        around = [side for side in (before, folder, after) if side]
        if all(map(has_pages, around)):
            return None

        def draw() -> dict[str, bytes]:
            source, page = plate_of(folder, sides_of(before, folder), before, after, known=self._pages_of, drawn=lambda _: True)
            return collection.plate_files(source, page, self._pages_of(folder))

        return self._plates.get(tuple((side, _identity(side)) for side in around), draw)[RELEASES]

    def _pages_of(self, folder: Path) -> KnownPages:
        """The pages of a release: those on disk, or those that it would have."""
        make = KnownPages.of if has_pages(folder) else demand.pages_of
        return self._pages.get((folder, _identity(folder)), lambda: make(folder))

    # The list

    def _shelf(self) -> tuple[Path, ...]:
        """The releases of the folder, oldest first; none where it holds one atlas itself."""
        if not is_shelf(self.root):
            return ()
        found = tuple((path.parent, _identity(path.parent)) for path in sorted(self.root.glob(f"[!.]*/{database.FILE_NAME}")))
        return self._shelves.get(found, lambda: tuple(folder for folder in shelf(self.root) if self._holds_atlas(folder)))

    def _listed(self, address: str) -> bytes | None:
        """A file of the list or the switcher, where a release is not drawn: all are to be read here."""
        folders = self._shelf()
        if all(map(has_pages, folders)):
            return None
        make = self._switcher if address == LIST or address.startswith(f"{collection.PAGES}/") else self._list
        key = (make.__name__, *((folder, _identity(folder)) for folder in folders))
        return self._lists.get(key, lambda: make(folders)).get(address)

    def _list(self, folders: tuple[Path, ...]) -> dict[str, bytes]:
        told = state_of(self.root)
        return collection.list_files([*_readable(folders, lambda folder: shelved(folder, told.get(folder.name, {}), pages=True)).values()])

    def _switcher(self, folders: tuple[Path, ...]) -> dict[str, bytes]:
        return collection.switcher_files(_readable(folders, self._pages_of))


def _readable(folders: tuple[Path, ...], read: Callable[[Path], T]) -> dict[str, T]:
    """What is read of each release, the newest first. One that cannot be read is left out: it says so itself when a page of it is asked for."""
    found = {}
    for folder in reversed(folders):
        with suppress(CartographerError), doubting(folder):
            found[folder.name] = read(folder)
    return found


def _identity(folder: Path) -> tuple[tuple[int, int, int], ...]:
    """What tells a database, and what is drawn with it, from those that stood in its place before."""
    return tuple(_state(folder / name) for name in (database.FILE_NAME, verified.FILE_NAME, STATUS))


def _state(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_mtime_ns, found.st_size
