# SPDX-License-Identifier: BSD-3-Clause
"""Reads the patches of all commits, in order, from several git processes at once.

One `git diff-tree --stdin` takes a slice of the list of commits. Cutting the list is better than cutting the tree:
renames cross folders, and a slice can be kept.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING

from cartographer.errors import HistoryError
from cartographer.history import follow, patch
from cartographer.history.plumbing import PATCH, Asker

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from cartographer.history.commits import Commits
    from cartographer.history.gaps import Gaps
    from cartographer.history.patch import Change
    from cartographer.history.plumbing import Git
    from cartographer.history.slices import Slices

# Commits in a slice: few enough for their names to fit into a pipe; a killed run loses no more than it was reading.
_SMALLEST, _LARGEST = 50, 400


class Stream:
    """The changes of each commit, asked for in topological order."""

    def __init__(self, git: Git, commits: Commits, slices: Slices, gaps: Gaps, workers: int) -> None:
        self._git, self.commits, self._slices, self._gaps = git, commits, slices, gaps
        self._pool = ThreadPoolExecutor(max(1, workers))
        self._told: dict[int, Future[dict[int, list[Change]]]] = {}
        self._left: Counter[Future[dict[int, list[Change]]]] = Counter()
        self._wanted: Sequence[int] = ()
        self.fresh: frozenset[int] = frozenset()  # commits that git has to be asked for
        self._workers = max(1, workers)
        self._askers: SimpleQueue[tuple[Asker, Asker]] = SimpleQueue()
        for _ in range(self._workers):
            self._askers.put((Asker(git, "diff-tree", "--stdin", "--root", *PATCH), Asker(git, *follow.COPIES)))

    def begin(self, wanted: Sequence[int]) -> None:
        """Start git on those commits that no slice has; returns at once."""
        self._wanted = wanted
        fresh = [commit for commit in wanted if self.commits.key(commit) not in self._slices]
        self.fresh = frozenset(fresh)
        for part in _cut(fresh, self._workers):
            job = self._pool.submit(self._read, part)
            self._left[job] = len(part)
            self._told.update(dict.fromkeys(part, job))

    def events(self) -> Iterator[tuple[int, list[Change]]]:
        """(commit, changes against its first parent) for each wanted commit, in order."""
        for commit in self._wanted:
            job = self._told.pop(commit, None)
            if job is None:
                changes = self._slices.changes(self.commits.key(commit))
                yield commit, self._read([commit])[commit] if changes is None else changes
                continue
            yield commit, job.result()[commit]
            self._left[job] -= 1
            if not self._left[job]:
                del self._left[job]

    def close(self) -> None:
        """Stop git; the patches that were read so far are kept."""
        self._told.clear()
        self._pool.shutdown(wait=True, cancel_futures=True)
        for _ in range(self._workers):
            for asker in self._askers.get():
                asker.close()
        self._slices.close()

    def _read(self, part: list[int]) -> dict[int, list[Change]]:
        askers = self._askers.get()
        try:
            return self._told_by(part, *askers)
        except EOFError as error:
            raise HistoryError("git diff-tree failed", where=str(self._git.folder), hint="try `git fsck`") from error
        except BaseException:
            for asker in askers:
                asker.close()  # what it has still to say is not the answer to the next question
            raise
        finally:
            self._askers.put(askers)

    def _told_by(self, part: list[int], patches: Asker, copies: Asker) -> dict[int, list[Change]]:
        told: dict[int, list[Change]] = {commit: [] for commit in part}
        bad: set[int] = set()
        rest = part
        while (reached := self._diff(rest, told, patches)) < len(rest):
            # Git died, most likely because of a blob that this clone lacks. Find the commits concerned, and go around.
            found = self._gaps.concerned(rest[reached:])
            if not found:
                raise HistoryError("git diff-tree failed", where=str(self._git.folder), hint="try `git fsck`")
            bad |= found
            rest = [commit for commit in rest[reached:] if commit not in found]
        good = [commit for commit in part if commit not in bad]
        follow.refine(self._git, self.commits, {commit: told[commit] for commit in good}, copies)
        self._slices.add([self.commits.key(commit) for commit in good], [told[commit] for commit in good])
        holed = {commit: self._gaps.changes(commit) for commit in sorted(bad)}
        self._slices.add([self.commits.key(commit) for commit in holed], list(holed.values()), holds=False)
        return told | holed

    def _diff(self, part: list[int], told: dict[int, list[Change]], asker: Asker) -> int:
        """Fill in the changes by commit; gives how many of the commits git got through."""
        last = None
        try:
            for name, changes in patch.parse(asker.ask(b"".join(self.commits.line(commit) for commit in part))):
                last = self.commits.index[name]
                told[last] = changes
        except EOFError:
            return 0 if last is None else part.index(last) + 1
        return len(part)


def _cut(commits: list[int], workers: int) -> Iterator[list[int]]:
    size = min(_LARGEST, max(_SMALLEST, len(commits) // (4 * workers)))
    for start in range(0, len(commits), size):
        yield commits[start : start + size]
