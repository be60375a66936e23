# SPDX-License-Identifier: BSD-3-Clause
"""Finds where the lines of a merge come from, as `git blame` decides it.

The stream compares a merge with its first parent. A file that another parent holds with the same content (under the
same name, or under one that the merge does away with: subtree merges) comes from there as a whole; of any other,
the lines that the first parent has not are looked for in the further parents.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cartographer.history import follow
from cartographer.history.lines import kept

if TYPE_CHECKING:
    from collections.abc import Callable

    from cartographer.history.lines import Record
    from cartographer.history.pairs import Pairs

    Files = dict[bytes, Record]


class Side:
    """A further parent of a merge, with the files that it has."""

    def __init__(self, commit: str, files: Files, stays: Callable[[bytes], bool]) -> None:
        self.commit, self.files = commit, files
        self._stays = stays
        self._by_blob: dict[bytes, list[bytes]] | None = None

    def gone(self) -> list[bytes]:
        """The files of this parent whose names the merge does not have: only they can have been renamed."""
        return [path for path in self.files if not self._stays(path)]

    def same_content(self, path: bytes, blob: bytes) -> bytes | None:
        """The gone file with this content; None when there is none."""
        if self._by_blob is None:
            self._by_blob = {}
            for name in self.gone():
                self._by_blob.setdefault(self.files[name].blob, []).append(name)
        return follow.same_content(path, blob, ((name, blob) for name in self._by_blob.get(blob, ())))


def resolve(merge: tuple[int, str], put: Files, before: Files, sides: list[Side], pairs: Pairs) -> None:
    """Replace the records in `put`, made from the difference to the first parent (`before`), where other parents know better."""
    commit, name = merge
    left: dict[bytes, Record] = {}
    for path, record in put.items():
        if record.changed != commit and path in before:  # the first parent has it, unchanged
            continue
        whole = _whole(path, record, sides, renamed=record.changed != commit)
        if whole is not None:
            put[path] = whole
        elif commit in record.lines:
            left[path] = record
    for side in sides:
        same = [(path, side.files[path].dated, record.dated) for path, record in left.items() if path in side.files]
        pairs.fetch(side.commit, name, same)
        for path in left:
            put[path] = _shared(commit, name, path, put[path], side, pairs)


def _whole(path: bytes, record: Record, sides: list[Side], *, renamed: bool) -> Record | None:
    for side in sides:
        theirs = side.files.get(path)
        if theirs is not None and theirs.blob == record.blob:
            return theirs
    if renamed:  # the first parent has it, under another name; that comes before other names elsewhere
        return None
    for side in sides:
        if path not in side.files:
            old = side.same_content(path, record.blob)
            if old is not None:
                theirs = side.files[old]
                return replace(theirs, names=(*theirs.names, old))
    return None


def _shared(commit: int, name: str, path: bytes, record: Record, side: Side, pairs: Pairs) -> Record:
    if commit not in record.lines:
        return record
    old = path if path in side.files else pairs.source(side.commit, name, path, side.gone())
    if old is None or old not in side.files:
        return record
    theirs = side.files[old]
    hunks = pairs.hunks(theirs.dated, record.dated)
    if hunks is None:
        return record
    lines = kept(theirs.lines, hunks, commit, record.lines)
    names = record.names if record.names or record.born != commit else (*theirs.names, *((old,) if old != path else ()))
    return replace(record, lines=lines, born=min(record.born, theirs.born), names=names)
