# SPDX-License-Identifier: BSD-3-Clause
"""Keeps waypoints at which a walk can be taken up again: all files of one commit, as the walk had them there.

Releases share nearly all of their history. What lies before a waypoint is not walked again, by whatever revision it is
reached, as long as exactly the same commits lie behind it.
"""

from __future__ import annotations

import hashlib
import sys
import zlib
from array import array
from typing import TYPE_CHECKING

import msgspec

from cartographer.history.kept import FORMAT
from cartographer.history.lines import Record
from cartographer.history.notes import Bulk
from cartographer.history.slices import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cartographer.history.clone import Ground
    from cartographer.history.commits import Commits
    from cartographer.history.state import Walk

BACK = 400  # commits before the tip, for the next release: it leaves the main line later than this one, and this one's own commits are fewer
APART = 200  # a way that is shorter is soon walked again
_MOST = 8  # waypoints in one folder; of PyTorch's history one takes two or three megabytes


class _Row(msgspec.Struct, array_like=True):
    path: bytes
    blob: bytes
    born: int
    changed: int
    names: tuple[bytes, ...]
    dated: bytes
    lines: bytes


class _State(msgspec.Struct, array_like=True):
    rows: list[_Row]
    firsts: dict[str, int]
    bulks: dict[int, tuple[int, int, str, str]]
    folders: dict[int, str]


class Waypoints:
    """The waypoints of one cache folder, for one history. `unread`: the commits that `ignored` leaves out."""

    def __init__(self, folder: Path | None, commits: Commits, ground: Ground, unread: frozenset[int]) -> None:
        self._folder, self._commits, self._ground, self._unread = folder, commits, ground, unread
        self._from = 0
        self._due = [max(0, commits.tip - BACK), commits.tip]

    def take_up(self, walk: Walk) -> int:
        """Put a walk at the last waypoint on its way; returns the number of commits that are then behind it."""
        for place, commit in self._known():
            if commit not in walk.notes.main or not self._is_enough(commit) or place.name not in (names := self._names(commit)):
                continue
            state = _read(place)
            if state is None:
                continue
            walk.pairs.lacking |= place.name == names[1]
            walk.states[commit] = {
                row.path: Record(row.blob, array("I", row.lines), row.born, row.changed, row.names, row.dated) for row in state.rows
            }  # fmt: skip
            walk.notes.firsts.update(state.firsts)
            walk.notes.bulks.update({number: Bulk(*bulk) for number, bulk in state.bulks.items()})
            walk.notes.folders.update(state.folders)
            self._from = commit + 1
            break
        return self._from

    def pass_by(self, commit: int, walk: Walk) -> None:
        """Keep what the walk knows at this commit, if a waypoint is due and nothing but this state is needed from here on."""
        if self._folder is None or commit < self._due[0] or list(walk.states) != [commit] or commit not in walk.notes.main:
            return
        self._due = [due for due in self._due if due > commit] or [len(self._commits)]
        if commit - self._from < APART:
            return
        rows = [_Row(path, r.blob, r.born, r.changed, r.names, r.dated, r.lines.tobytes()) for path, r in walk.states[commit].items()]
        notes = walk.notes
        bulks = {number: (bulk.lines, bulk.files, bulk.folder, bulk.licence) for number, bulk in notes.bulks.items()}
        data = zlib.compress(msgspec.msgpack.encode(_State(rows, notes.firsts, bulks, notes.folders)), 1)
        write_whole(self._folder / self._names(commit)[walk.pairs.lacking], data)
        for place in sorted(self._folder.glob("*.walk"), key=_age)[_MOST:]:
            place.unlink(missing_ok=True)

    def _known(self) -> Iterator[tuple[Path, int]]:
        """The waypoints whose commit belongs to this history, the last of them first."""
        found = [(place, self._commits.index.get(place.name.partition(".")[0], -1)) for place in self._folder.glob("*.walk")] if self._folder else []
        yield from sorted(((place, commit) for place, commit in found if commit >= 0), key=lambda known: -known[1])

    def _is_enough(self, commit: int) -> bool:
        """Whether nothing but this commit's state is needed later: no branch that left before it is still to come."""
        return all(parent >= commit for parents in self._commits.parents[commit + 1 :] for parent in parents)

    def _names(self, commit: int) -> tuple[str, str]:
        """How a waypoint is called: by all that it depends on. The second where the clone lacked something (`Pairs.lacking`): what was
        missing may have come in.
        """
        ids = self._commits.ids[: commit + 1]
        depends = (FORMAT, sys.byteorder, self._ground.shallow, [ids[one] for one in sorted(self._unread) if one <= commit])
        digest = hashlib.sha256("\n".join(ids).encode("ascii"))
        digest.update(repr(depends).encode())
        whole = digest.hexdigest()[:16]
        digest.update(self._ground.objects.encode())
        return f"{ids[commit]}.{whole}.walk", f"{ids[commit]}.{digest.hexdigest()[:16]}.walk"


def _read(place: Path) -> _State | None:
    try:
        return msgspec.msgpack.decode(zlib.decompress(place.read_bytes()), type=_State)
    except (OSError, zlib.error, msgspec.MsgspecError):
        return None


def _age(place: Path) -> float:
    """How long ago it was written, for sorting; what another process has removed is the oldest."""
    try:
        return -place.stat().st_mtime
    except OSError:
        return 0.0
