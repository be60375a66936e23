# SPDX-License-Identifier: BSD-3-Clause
"""Asks git about single blobs and keeps the answers: differences and renames, which merges need, and numbers of lines."""

from __future__ import annotations

import zlib
from array import array
from typing import TYPE_CHECKING

import msgspec

from cartographer.history import follow, patch
from cartographer.history.follow import PLAIN
from cartographer.history.plumbing import PATCH
from cartographer.history.slices import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from cartographer.history.plumbing import Git

_FORMAT = b"strata-pairs-4\n"
_BATCH = 400  # paths on one command line


class _Kept(msgspec.Struct, array_like=True):
    """What an earlier run has found out."""

    told: dict[bytes, bytes]  # hunks by the ids of two blobs; what `remembered` was asked for
    lines: dict[bytes, int | None]  # of a blob by its id; None: no text


class Pairs:
    """Hunks between two blobs by their ids; git is asked for each pair once."""

    def __init__(self, git: Git, kept: Path | None) -> None:
        self._git, self._kept = git, kept
        self._lost: set[bytes] = set()  # blobs that are not here, as far as they were asked for in this run
        self._grown = False
        self.lacking = False  # whether something was not here that lines follow from: what is found out holds for this clone as it is
        found = _read(kept) if kept is not None else None
        self._told, self.lines = (found.told, found.lines) if found is not None else ({}, {})

    def hunks(self, before: bytes, after: bytes) -> bytes | None:
        """The hunks from one blob to the other (`before` may be empty); None when the clone lacks one of them."""
        if before == after:
            return b""
        key = before + b" " + after
        if key not in self._told:
            if not self._lost.isdisjoint((before, after)):
                self.lacking = True
                return None
            found = self._whole(after) if not before.strip(b"0") else follow.hunks(self._git, before.decode("ascii"), after.decode("ascii"))
            if found is None:
                self.lacking = True
                self._lost.update(blob for blob in (before, after) if blob.strip(b"0") and self._git.attempt("cat-file", "-e", blob.decode("ascii")) is None)
                return None
            self._keep(key, found)
        return self._told[key]

    def fetch(self, before: str, after: str, wanted: Sequence[tuple[bytes, bytes, bytes]]) -> None:
        """Ask git at once for several pairs (path, blob before, blob after) of two commits."""
        fresh = [row for row in wanted if row[1] + b" " + row[2] not in self._told]
        for start in range(0, len(fresh), _BATCH):
            part = {path: old + b" " + new for path, old, new in fresh[start : start + _BATCH]}
            names = [f":(top,literal){path.decode(errors='surrogateescape')}" for path in part]
            out = self._git.attempt("diff-tree", *PATCH, *PLAIN, before, after, "--", *names)
            if out is None:
                return  # one of them is missing: `hunks` will ask for each
            for _, changes in patch.parse([after.encode("ascii") + b"\n" + out]):
                for change in changes:
                    if change.path in part and part[change.path].endswith(change.blob):
                        self._keep(part[change.path], change.hunks)

    def source(self, before: str, after: str, path: bytes, gone: Iterable[bytes]) -> bytes | None:
        """The gone file that became `path` by a rename: see `follow.source`."""
        key = b"\0".join((before.encode(), after.encode(), path))
        return self.remembered(key, lambda: follow.source(self._git, before, after, path, gone)) or None

    def remembered(self, key: bytes, work_out: Callable[[], bytes | None]) -> bytes | None:
        """The answer kept under a key, from this run or an earlier one, else the one that is computed now. None, for a missing blob, is not kept."""
        if key not in self._told:
            found = work_out()
            if found is None:
                self.lacking = True
                return None
            self._keep(key, found)
        return self._told[key]

    def remember_lines(self, lines: dict[bytes, int | None]) -> None:
        """Keep the numbers of lines of the dated tree alone: those of trees before would only pile up."""
        self._grown |= lines != self.lines
        self.lines = lines

    def save(self) -> None:
        """Keep what was asked for, for the next run."""
        if self._kept is not None and self._grown:
            write_whole(self._kept, _FORMAT + zlib.compress(msgspec.msgpack.encode(_Kept(self._told, self.lines)), 1))
            self._grown = False

    def _keep(self, key: bytes, told: bytes) -> None:
        self._told[key] = told
        self._grown = True

    def _whole(self, blob: bytes) -> bytes | None:
        out = self._git.attempt("cat-file", "blob", blob.decode("ascii"))
        return None if out is None else array("I", (0, 1, count(out))).tobytes()


def _read(kept: Path) -> _Kept | None:
    """What an earlier run has kept; None where there is nothing, or no longer what was written (zlib's checksum tells)."""
    try:
        data = kept.read_bytes()
        return msgspec.msgpack.decode(zlib.decompress(data[len(_FORMAT) :]), type=_Kept) if data.startswith(_FORMAT) else None
    except (OSError, zlib.error, msgspec.MsgspecError):
        return None


def count(data: bytes) -> int:
    """The number of lines as git counts them: a last line without a line break counts too."""
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
