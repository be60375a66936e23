# SPDX-License-Identifier: BSD-3-Clause
"""The parts that every page has: title, crumbs, depth, receipts; and the page itself as a value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from cartographer.model.location import Location


class Receipt(NamedTuple):
    """The place where something was read: a short text, and the pinned line on the web (None for generated files)."""

    text: str
    url: str | None


class Link(NamedTuple):
    """A name that leads to an address of this site."""

    text: str
    address: str


@dataclass(frozen=True, slots=True)
class Page:
    """One page to write: its address, its template, the frame and the view that fills it."""

    address: str
    template: str
    title: str  # for a tab list: the most particular word first
    description: str  # one sentence for a search engine or a chat preview
    plate: str  # the address of the plate in the navigation that this page belongs to
    view: Any
    crumbs: tuple[Link, ...] = ()
    floors: tuple[int, ...] = ()
    says: str = ""  # the depth in words
    descends: bool = False  # the page has an anchor for each of its floors
    scripts: tuple[str, ...] = ()
    previous: str = ""
    following: str = ""


_VAGUE = re.compile(r"^(__init__|__main__|utils|common|util|setup)\.\w+$")


def short_path(path: str, common: Collection[str] = ()) -> str:
    """A path's file name; with its folder when the name alone says nothing (`torch/__init__.py`), or is one of the `common` ones of its tree."""
    folder, _, name = path.rpartition("/")
    return f"{folder.rpartition('/')[2]}/{name}" if folder and (name in common or _VAGUE.match(name)) else name


def at(path: str, line: int, common: Collection[str] = ()) -> str:
    """The short text of a place, `BinaryOps.cpp:151`; the name alone when the line is not known. `common`: names that many folders have."""
    return f"{short_path(path, common)}:{line}" if line > 0 else short_path(path, common)


def key_of(location: Location) -> tuple[str, int]:
    """A key that two locations share when their receipts are equal: path and line."""
    return location.path, location.line


_ENOUGH = 24  # characters of a name that a link to a sheet has room for


def sheet_names(names: Sequence[str], size: int) -> tuple[str, ...]:
    """What each sheet of a list holds, in words that no other sheet has: its number, its first and its last name."""
    starts = range(0, len(names), size)
    if len(starts) < 2:
        return ("all",) if names else ()
    found = []
    for number, start in enumerate(starts, start=1):
        end = min(start + size, len(names))
        first, last = _told(names[start], names[start - 1] if start else ""), _told(names[end - 1], names[end] if end < len(names) else "")
        found.append(f"{number}: {first}" if first == last else f"{number}: {first} to {last}")
    return tuple(found)


def _told(name: str, beside: str) -> str:
    """A name whole, or as much of a long one as tells it from that beside it on the other sheet."""
    same = next((at for at, (one, other) in enumerate(zip(name, beside, strict=False)) if one != other), min(len(name), len(beside)))
    kept = max(_ENOUGH, same + 1) if name != beside else _ENOUGH
    return name if len(name) <= kept + 1 else f"{name[:kept]}…"
