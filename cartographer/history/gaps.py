# SPDX-License-Identifier: BSD-3-Clause
"""Handles single blobs that a clone lacks: only the lines that they touch stay undated."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from cartographer.history import patch, raw
from cartographer.history.patch import DELETED, RENAMED, UNREADABLE, Change
from cartographer.history.plumbing import PATCH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cartographer.history.commits import Commits
    from cartographer.history.plumbing import Git
    from cartographer.model.atlas import FileDates


class Gaps:
    """The objects that a history needs and the clone lacks, looked up when they are first asked for."""

    def __init__(self, git: Git, commits: Commits, *, partial: bool = False) -> None:
        self._git, self._commits, self._partial = git, commits, partial
        self._missing: frozenset[bytes] | None = None
        self._lock = threading.Lock()
        self._met: set[bytes] = set()
        self.objects = 0

    @property
    def missing(self) -> frozenset[bytes]:
        """The ids of all missing objects. git only looks which objects are in the clone; nothing is fetched."""
        with self._lock:
            if self._missing is None:
                tip = self._commits.ids[self._commits.tip]
                out = self._git.run("rev-list", "--objects", "--no-object-names", "--missing=print", tip)
                self.objects = out.count(b"\n")
                self._missing = frozenset(row[1:] for row in out.splitlines() if row.startswith(b"?"))
            return self._missing

    def concerned(self, part: list[int]) -> set[int]:
        """The commits among the given ones whose patches need a missing blob."""
        stream = self._git.stream(*raw.COMMAND, "--stdin", stdin=b"".join(self._commits.line(one) for one in part))
        needed = {
            self._commits.index[name]: {blob for change, before in rows for blob in (before, change.blob) if blob.strip(b"0")}
            for name, rows in raw.parse(stream.pieces())
        }
        stream.close()
        self._met |= self._absent(set().union(*needed.values()))
        return {commit for commit, blobs in needed.items() if blobs & self._met}

    def _absent(self, blobs: set[bytes]) -> set[bytes]:
        if self._partial:  # asking for a promised object by its name would have git try to fetch it
            return blobs & self.missing
        out = self._git.run("cat-file", "--batch-check", stdin=b"".join(blob + b"\n" for blob in sorted(blobs)))
        return {row.split()[0] for row in out.splitlines() if row.endswith(b" missing")}

    def changes(self, commit: int) -> list[Change]:
        """What a commit did whose patch needs a missing blob: patches of the readable files, bare facts of the others."""
        words = self._commits.line(commit)
        names = words.decode("ascii").split()[::-1]
        ((_, rows),) = raw.parse(iter([words.split()[0] + b"\0" + self._git.run(*raw.COMMAND, "--no-commit-id", *names)]))
        shut = [change for change, before in rows if before in self._met or change.blob in self._met]
        paths = sorted({name for change in shut for name in (change.path, change.old) if name})
        told = [_unreadable(change) for change in shut]
        if len(shut) == len(rows):
            return told
        besides = [f":(top,exclude,literal){path.decode(errors='surrogateescape')}" for path in paths]
        out = self._git.run("diff-tree", "--root", "--no-commit-id", *PATCH, *names, "--", ":(top)", *besides)
        return told + [change for _, more in patch.parse([words.split()[0] + b"\n" + out]) for change in more]

    def told(self, files: Mapping[str, FileDates]) -> str:
        """A sentence on how many lines stay undated, and what to do about it; "" when no line does."""
        undated = [lines for file in files.values() if (lines := sum(n for n, commit in file.runs if commit < 0))]
        if not undated:
            return ""
        return (
            f"Some versions of files are not in this clone; {sum(undated)} lines of {len(undated)} files that they touch "
            f"have no date. To get them, run: git --git-dir={self._git.folder} fetch --refetch --no-filter"
        )


def _unreadable(change: Change) -> Change:
    if change.kind == DELETED or (change.kind == RENAMED and not change.blob):
        return change
    return Change(UNREADABLE, change.path, change.old, change.blob)
