# SPDX-License-Identifier: BSD-3-Clause
"""The files of a tree that a stage asks for: each says which in its `WANTED`."""

from __future__ import annotations

import re
from fnmatch import translate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cartographer.model.source import Tree


def matching(tree: Tree, globs: Iterable[str]) -> dict[str, bytes]:
    """The bytes of the files that one of the globs names."""
    chosen = _chooser(tuple(globs))
    return dict(tree.read_many([f.path for f in tree.files() if chosen(f.path)]))


def _chooser(globs: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether one of the globs names a path. Most globs are a beginning and an end around one star, which needs no pattern."""
    ends: dict[str, list[str]] = {}
    others: list[str] = []
    for glob in globs:
        start, star, end = glob.partition("*")
        if any(c in start + end for c in "*?["):
            others.append(translate(glob))
        elif star:
            ends.setdefault(start, []).append(end)
    exact = {glob for glob in globs if not any(c in glob for c in "*?[")}
    starts, by_start = tuple(ends), [(start, tuple(found)) for start, found in ends.items()]
    pattern = re.compile("|".join(others) or r"(?!)")

    def chosen(path: str) -> bool:
        if path in exact or pattern.match(path):
            return True
        if not path.startswith(starts):
            return False
        return any(path.startswith(start) and path[len(start) :].endswith(found) for start, found in by_start)

    return chosen
