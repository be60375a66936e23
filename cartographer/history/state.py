# SPDX-License-Identifier: BSD-3-Clause
"""Carries the state of all files from each commit to its children.

A state is handed on when a commit has one child left and copied (the table, not the lines) when it has more; of
PyTorch's 30,000 commits to v1.7.0 never more than a dozen states live at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cartographer.errors import HistoryError
from cartographer.history import follow, merges, patch
from cartographer.history.lines import NO_LINES, UNKNOWN, Record, patched
from cartographer.history.patch import DELETED

if TYPE_CHECKING:
    from cartographer.history.commits import Commits
    from cartographer.history.ignored import Ignored
    from cartographer.history.notes import Notes
    from cartographer.history.pairs import Pairs
    from cartographer.history.patch import Change

Files = dict[bytes, Record]


@dataclass(slots=True)
class Walk:
    """The states of commits that still have children to come, and what was recorded on the way."""

    commits: Commits
    pairs: Pairs
    ignored: Ignored
    notes: Notes
    states: dict[int, Files] = field(default_factory=dict)
    children: list[int] = field(default_factory=list)
    most: int = 0

    def begin(self) -> None:
        """Count, for each commit, the children that will need its state."""
        self.children = [0] * len(self.commits)
        for parents in self.commits.parents:
            for parent in parents:
                self.children[parent] += 1
        self.children[self.commits.tip] += 1

    def advance(self, commit: int, changes: list[Change]) -> None:
        """Make the state of one commit from those of its parents."""
        parents = self.commits.parents[commit]
        self.notes.see(commit, changes)
        before: Files = self.states[parents[0]] if parents else {}
        put = self._put(commit, changes, before)
        if len(parents) > 1 and put:
            self._merge(commit, changes, put, before)
        after = before if parents and self.children[parents[0]] == 1 else dict(before)
        for change in changes:
            if change.kind == DELETED:
                after.pop(change.path, None)
            elif change.old:
                after.pop(change.old, None)
        after.update(put)
        for parent in parents:
            self.children[parent] -= 1
            if not self.children[parent]:
                del self.states[parent]
        self.states[commit] = after
        self.most = max(self.most, len(self.states))

    def _merge(self, commit: int, changes: list[Change], put: Files, before: Files) -> None:
        gone = {change.old or change.path for change in changes if change.kind == DELETED or change.old}

        def stays(path: bytes) -> bool:
            return path in put or (path in before and path not in gone)

        ids = self.commits.ids
        sides = [merges.Side(ids[parent], self.states[parent], stays) for parent in self.commits.parents[commit][1:]]
        merges.resolve((commit, ids[commit]), put, before, sides, self.pairs)

    def _put(self, commit: int, changes: list[Change], before: Files) -> Files:
        # All changes of one commit read the parent's state: chains and swaps of names come out right.
        put: Files = {}
        gone = [name for change in changes if (name := change.old or (change.path if change.kind == DELETED else b"")) in before]
        twins = len({before[name].blob for name in gone}) < len(gone)
        for change in changes:
            match change.kind:
                case patch.ADDED:
                    lines = patched(NO_LINES, change.hunks, commit)
                    put[change.path] = Record(change.blob, lines, commit, commit, dated=change.blob)
                case patch.DELETED:
                    pass
                case patch.UNREADABLE:
                    put[change.path] = self._unreadable(commit, change, before)
                case _:
                    old = change.old
                    if twins and old in before and not change.blob:  # the pairing had more than one to choose from
                        old = follow.same_content(change.path, before[old].blob, ((name, before[name].blob) for name in gone)) or old
                    put[change.path] = self._changed(commit, change, old, before)
        return put

    def _changed(self, commit: int, change: Change, source: bytes, before: Files) -> Record:
        old = before.get(source or change.path)
        if old is None:
            raise HistoryError(
                f"{self.commits.ids[commit]} changes a file that is not there before", where=change.path.decode("utf-8", "replace"),
                hint="the kept history may be damaged: `cartographer clean` removes it",
            )  # fmt: skip
        names = (*old.names, source) if source else old.names
        if not change.blob:
            return replace(old, names=names) if source else old
        if commit in self.ignored:
            lines = self.ignored.patched(old.lines, old.blob, change.blob, change.hunks, commit)
        else:
            lines = patched(old.lines, change.hunks, commit)
        return Record(change.blob, lines, old.born, commit, names, change.blob)

    def _unreadable(self, commit: int, change: Change, before: Files) -> Record:
        """A version whose content, or the content before it, is not here: compare with the last one that is."""
        self.pairs.lacking = True
        old = before.get(change.old or change.path, Record(b"", NO_LINES, commit, commit))
        names = (*old.names, change.old) if change.old else old.names
        told = self.pairs.hunks(old.dated, change.blob)
        if told is None:
            return Record(change.blob, old.lines, old.born, commit, names, old.dated)
        return Record(change.blob, patched(old.lines, told, UNKNOWN), old.born, commit, names, change.blob)
