# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pages of a site when they are asked for: the same files as a build would write, and none on disk."""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

from cartographer.render import assets, outline, plan, search
from cartographer.render.environment import create
from cartographer.render.frames import frame_of
from cartographer.render.known import KnownPages
from cartographer.render.loading import site_of
from cartographer.render.write import to_html
from cartographer.store.reader import Reader

if TYPE_CHECKING:
    from pathlib import Path

    from cartographer.render.outline import Outline
    from cartographer.render.site import Site

_environment = cache(create)  # templates are the same for all sites
_SEARCH = plan.Job("data", "search")


class OnDemand:
    """One site whose pages are drawn when they are asked for; of two threads that ask at once, one waits."""

    def __init__(self, site: Site) -> None:
        """Settle which files the site has."""
        self._site = site
        addresses, self._assets = assets.collect()
        self._frame = frame_of(site, addresses)
        self._jobs = _jobs(outline.of_site(site))
        self._made: dict[str, bytes] = {}  # data that one job makes as a whole: a shard of the search costs no less than all
        self._turn = Lock()

    def draw(self, address: str) -> bytes | None:
        """The bytes of the file at an address; None when the site has none there."""
        if address in self._assets:
            return self._assets[address]
        job = _SEARCH if address.startswith(f"{search.FOLDER}/") else self._jobs.get(address)
        if job is None:
            return None
        with self._turn:
            if job.kind == "data":
                if address not in self._made:
                    self._made |= plan.files(self._site, job)
                return self._made.get(address)
            for page in plan.pages(self._site, job):
                if page.address == address:
                    return to_html(_environment(), self._frame, page)
            return dict(plan.files(self._site, job)).get(address)


def open_site(folder: Path, *, collected: bool) -> OnDemand:
    """Read the site of the atlas in a folder into memory, which takes a second or two. Raises StoreError."""
    with Reader(folder) as reader:
        return OnDemand(site_of(reader, folder, collected=collected))


def pages_of(folder: Path) -> KnownPages:
    """The addresses of the pages that the site of the atlas in a folder would have. Raises StoreError."""
    with Reader(folder) as reader:
        outlined = outline.of_atlas(reader)
    return KnownPages(dict.fromkeys(_jobs(outlined), ""), outlined.settle.moved)


def _jobs(outlined: Outline) -> dict[str, plan.Job]:
    """Each address of the plan, and the job that draws it."""
    return {address: job for job in plan.jobs(outlined) for address in plan.addresses(outlined, job)}
