# SPDX-License-Identifier: BSD-3-Clause
"""The outline of a site, names and numbers alone: enough to tell the address of every page without reading what is on it.

A site in memory has it at hand; of a database alone it takes some hundredths of a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

from cartographer.guide import texts
from cartographer.render.catalog import PART, page_keys
from cartographer.render.site import DEVICE_KINDS, DEVICE_ROLES, FUNCTION_ROLES, settled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.render.site import Site
    from cartographer.render.urls import CaseSafe
    from cartographer.store.reader import Reader


@dataclass(frozen=True)
class Outline:
    """The names that pages are called by, and the lengths of lists that are split into sheets."""

    keys: tuple[str, ...]  # of operators' pages
    folders: tuple[str, ...]
    files: Mapping[str, int]  # path -> on how many pages its symbols are shown
    texts: tuple[str, ...]  # slugs of the guide
    operators: int
    stubs: int
    functions: int
    device: int
    unresolved: int

    @cached_property
    def settle(self) -> CaseSafe:
        """The case-safe form of every page that depends on a name of PyTorch's."""
        return settled(self.keys, self.folders, self.files)


def of_site(site: Site) -> Outline:
    """The outline of a site in memory."""
    catalog = site.catalog
    files = {entry.path: site.parts(entry.path) for entry in catalog.files}
    return Outline(
        tuple(catalog.bases), tuple(catalog.folders), files, tuple(text.slug for text in site.book.texts), len(catalog.operators),
        len(catalog.stubs), len(site.function_rows), len(site.device_rows), len(catalog.unresolved),
    )  # fmt: skip


def of_atlas(reader: Reader) -> Outline:
    """The outline of the site that a build would draw of an atlas."""
    groups, info, symbols = reader.groups(), reader.info(), reader.symbol_counts()
    keys = page_keys((namespace, base) for namespace, base, _count in groups)
    files = {path: -(-symbols[path] // PART) or 1 for path in sorted(symbols)}
    device = {(path, line) for _symbol, path, line in reader.steps(DEVICE_ROLES)}
    device |= reader.symbol_places(DEVICE_KINDS)
    return Outline(
        tuple(sorted(set(keys.values()))), tuple(sorted(_folders(files))), files, _texts(),
        sum(count for _namespace, _base, count in groups), info.count("stubs"), len(reader.steps(FUNCTION_ROLES)), len(device), info.count("unresolved"),
    )  # fmt: skip


def _folders(paths: Iterable[str]) -> set[str]:
    """The folders above these paths; "" is the root."""
    found = {""}
    for path in paths:
        folder = path
        while (folder := folder.rpartition("/")[0]) not in found:
            found.add(folder)
    return found


@cache
def _texts() -> tuple[str, ...]:
    return tuple(text.slug for text in texts.load())
