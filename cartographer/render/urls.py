# SPDX-License-Identifier: BSD-3-Clause
"""Makes all addresses: of a page of the site, of an anchor, of a line on the web.

An address is relative to the site's root and uses `/`: `op/add.html`. Two addresses never differ only in case (file
systems of macOS and Windows fold it) and none is longer than `LIMIT` characters (some tools stop at 255 for a whole path).
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.model.source import SourceInfo

LIMIT = 190
_SAFE = "/:~,@!$&'()*+;="

MAP = "index.html"
OPERATORS = "operators/index.html"
TERRITORY = "territory/index.html"
KERNELS = "kernels/index.html"
STUBS = "kernels/stubs.html"
GENERATED = "generated/index.html"
NODES = "nodes/index.html"
CHECKS = "checks/index.html"
STRATA = "strata/index.html"
LINES = "lines/index.html"
RELEASES = "releases/index.html"


_PLAIN = re.compile(r"[\w.~/:,@!$&'()*+;=-]*(?:#[\w.~/:,@!$&'()*+;=-]*)?", re.ASCII).fullmatch


def href(address: str) -> str:
    """An address as the value of `href`: percent-encoded, the part after `#` kept as an anchor."""
    if _PLAIN(address):
        return address
    page, mark, anchor = address.partition("#")
    return quote(page, safe=_SAFE) + (mark + quote(anchor, safe=_SAFE) if mark else "")


def root_from(address: str) -> str:
    """The relative way from a page to the site's root: `../../` for `source/aten/index.html`."""
    return "../" * address.count("/")


def relative(page: str, address: str) -> str:
    """The shortest relative way from one page to another address, as the value of `href`."""
    if address.startswith(f"{page}#"):
        return href(address[len(page) :])
    folder, rest = _apart(address)
    return _way(page.rpartition("/")[0], folder) + rest


@lru_cache(maxsize=1 << 15)
def _apart(address: str) -> tuple[str, str]:
    """The folder of an address with its slash, and what comes after it as it stands in `href`."""
    target, mark, anchor = address.partition("#")
    folder, slash, name = target.rpartition("/")
    return folder + slash, href(name + mark + anchor)


@cache
def _way(folder: str, there: str) -> str:
    """The way from a folder to another one, which ends with a slash unless it is the root, as it stands in `href`."""
    here, target = folder.split("/") if folder else [], there.split("/")
    common = 0
    while common < min(len(here), len(target) - 1) and here[common] == target[common]:
        common += 1
    return href("../" * (len(here) - common) + "/".join(target[common:]))


def operator_key(namespace: str, base: str) -> str:
    """The address of an operator's page without its ending; the namespace aten, which nearly all have, is left out."""
    key = f"op/{_name(base)}" if namespace == "aten" else f"op/{_name(namespace)}/{_name(base)}"
    return key if len(key) <= LIMIT - 5 else f"{key[: LIMIT - 20]}~{hashlib.sha1(key.encode(), usedforsecurity=False).hexdigest()[:10]}"


def _name(text: str) -> str:
    """A name as one part of a path; one that is a way upwards, or nothing, is spelled out."""
    plain = _plain(text).replace("/", "~2f")
    return plain if plain.strip(".") else "~2e" * len(plain) or "~"


_UNUSUAL = re.compile(r"[^A-Za-z0-9._/+@=,-]")


def _plain(path: str) -> str:
    """A path with characters that some file system, host or browser treats in its own way spelled as `~23`."""
    return _UNUSUAL.sub(lambda found: "".join(f"~{byte:02x}" for byte in found[0].encode("utf-8", "surrogatepass")), path)


def folder(path: str) -> str:
    """The address of the page of a folder; "" is the root of the tree."""
    return _short(f"source/{_plain(path)}/index.html" if path else "source/index.html")


def file(path: str, part: int = 1) -> str:
    """The address of the page of a source file; long lists of symbols continue in part 2, 3, ..."""
    return _short(f"source/{_plain(path)}.html" if part == 1 else f"source/{_plain(path)}~{part}.html")


def sheet(address: str, number: int) -> str:
    """The address of the nth sheet of a list that is too long for one page; the first is the list's own page."""
    if number == 1:
        return address
    stem = address.removesuffix("index.html") if address.endswith("index.html") else address.removesuffix(".html") + "-"
    return f"{stem}{number}.html"


def distinct(names: Iterable[str]) -> list[str]:
    """An anchor for each of these names on one page: the name, with a number behind it where an earlier one has it already."""
    taken: dict[str, int] = {}
    found = []
    for name in names:
        anchor = name
        while anchor in taken:
            taken[name] += 1
            anchor = f"{name}~{taken[name]}"
        taken[anchor] = 1
        found.append(anchor)
    return found


def line(number: int) -> str:
    """The anchor of a line on a file's page."""
    return f"L{number}"


def _short(address: str) -> str:
    if len(address) <= LIMIT:
        return address
    digest = hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()[:10]
    head, tail = posixpath.split(address)
    return f"{head[: LIMIT - 90]}~{digest}/{tail[-70:]}"


class CaseSafe:
    """Makes addresses of which no two differ only in case: the first keeps its name, others get a number."""

    def __init__(self, wanted: Iterable[str]) -> None:
        """Settle all of `wanted`; the outcome depends on the set alone, not on its order."""
        taken: dict[str, str] = {}
        self._moved: dict[str, str] = {}
        for address in sorted(set(wanted)):
            stem, dot, ending = address.rpartition(".")
            settled, number = address, 1
            while settled.lower() in taken:
                number += 1
                settled = f"{stem}~case{number}{dot}{ending}"
            taken[settled.lower()] = address
            if settled != address:
                self._moved[address] = settled

    def __call__(self, address: str) -> str:
        """The settled form of a page's address, an anchor after `#` kept."""
        page, mark, anchor = address.partition("#")
        return self._moved.get(page, page) + mark + anchor

    @property
    def moved(self) -> Mapping[str, str]:
        """The addresses that had to be changed, old -> new."""
        return self._moved


@cache
def _quoted(path: str) -> str:
    return quote(path)


class Permalinks:
    """Links to PyTorch's repository on the web, at the pinned commit, else at the tag."""

    def __init__(self, info: SourceInfo) -> None:
        """Pin all links to what `info` names."""
        self.web = info.web.rstrip("/")
        self.ref = info.commit or info.tag

    def line(self, path: str, number: int, end: int | None = None) -> str:
        """The URL of one line, or of a span of lines, of a file."""
        span = f"#L{number}" + (f"-L{end}" if end and end > number else "") if number > 0 else ""
        return f"{self.web}/blob/{self.ref}/{_quoted(path)}{span}"

    def tree(self, path: str) -> str:
        """The URL of a folder; "" is the root of the repository."""
        return f"{self.web}/tree/{self.ref}/{quote(path)}" if path else f"{self.web}/tree/{self.ref}"

    def commit(self, commit: str) -> str:
        """The URL of a commit."""
        return f"{self.web}/commit/{commit}"
