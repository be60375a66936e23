# SPDX-License-Identifier: BSD-3-Clause
"""Records, while the commits of a history go by, when folders first appeared and which commits added very many lines."""

from __future__ import annotations

import os.path
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cartographer.history.patch import ADDED, RENAMED

if TYPE_CHECKING:
    from collections.abc import Collection

    from cartographer.history.patch import Change

BULK = 3000  # lines in new files: below, one cannot tell an import from a good week's work

LICENCE = re.compile(rb"(?:^|/)(?:licen[cs]e|copying|notice|copyright)[^/]*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bulk:
    """A commit that added a great many lines in new files."""

    lines: int
    files: int
    folder: str
    licence: str = ""


@dataclass(slots=True)
class Notes:
    """What is recorded while a walk goes through the commits; `eras` and `imports` read it."""

    watched: tuple[str, ...]  # path prefixes
    main: Collection[int]
    firsts: dict[str, int] = field(default_factory=dict)
    bulks: dict[int, Bulk] = field(default_factory=dict)
    joins: Collection[int] = ()  # merges that bring in another history
    folders: dict[int, str] = field(default_factory=dict)  # where these put their files

    def see(self, commit: int, changes: list[Change]) -> None:
        """Record what one commit did; commits come parents first."""
        new = [change for change in changes if change.kind == ADDED]
        if commit in self.main:
            self._firsts(commit, new + [change for change in changes if change.kind == RENAMED])
        if commit in self.joins and new:
            self.folders[commit] = _common([change.path for change in new])
        lines = sum(int.from_bytes(change.hunks[8:12], "little") for change in new)
        if lines >= BULK:
            paths = [change.path for change in new]
            licence = min((path for path in paths if LICENCE.search(path)), key=len, default=b"")
            self.bulks[commit] = Bulk(lines, len(new), _common(paths), licence.decode("utf-8", "replace"))

    def _firsts(self, commit: int, changes: list[Change]) -> None:
        open_ = [prefix for prefix in self.watched if prefix not in self.firsts]
        for prefix in open_ if changes else ():
            start = prefix.encode()
            if any(change.path.startswith(start) for change in changes):
                self.firsts[prefix] = commit


def _common(paths: list[bytes]) -> str:
    return os.path.commonpath([path.rpartition(b"/")[0] for path in paths]).decode("utf-8", "replace")
