# SPDX-License-Identifier: BSD-3-Clause
"""The two ways to walk through a history: line by line over patches, or file by file over folders alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cartographer.history import eras, ignored, raw, tip
from cartographer.history.ignored import Ignored
from cartographer.history.lines import UNKNOWN, Record
from cartographer.history.notes import Notes
from cartographer.history.pairs import Pairs
from cartographer.history.state import Walk

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterator

    from cartographer.history.commits import Commits
    from cartographer.history.patch import Change
    from cartographer.history.plumbing import Git
    from cartographer.history.state import Files
    from cartographer.history.stream import Stream
    from cartographer.history.tip import TipFile
    from cartographer.history.waypoints import Waypoints
    from cartographer.progress import Progress

_STRIDE = 100  # commits between two reports of progress


@dataclass(frozen=True, slots=True)
class Walked:
    """The result of a walk: the files of the tree, what is known of each, and what was recorded on the way."""

    tip: dict[bytes, TipFile]
    files: Files
    notes: Notes
    blamed: int = 0  # files that `git blame` had to settle
    lacking: bool = False  # whether the clone lacked something that lines follow from


def by_lines(
    git: Git, stream: Stream, pairs: Pairs, waypoints: Callable[[frozenset[int]], Waypoints], progress: Progress, meanwhile: Callable[[], None],
) -> Walked:
    """Walk over every version of every file, line by line. `meanwhile` runs while git is at work."""
    commits = stream.commits
    unread = ignored.read(git, commits)
    kept = waypoints(unread)
    reader = git.blobs()
    walk = Walk(commits, pairs, Ignored(unread, reader, pairs), _notes(commits))
    try:
        stream.begin(range(kept.take_up(walk), len(commits)))
        progress.stage("dating lines", len(stream.fresh) or len(commits))
        files = tip.read(git, commits, pairs)
        meanwhile()
        _go(walk, stream.events(), progress, stream.fresh, kept)
        last = walk.states[commits.tip]
        asked = tip.wrong(files, last) - {path for path, record in last.items() if record.dated != record.blob}
        for path in sorted(asked):
            lines = tip.blame(git, commits, path, files[path].lines or 0, unread)
            last[path] = _settled(last, path, files[path].blob, lines)
        pairs.save()
    finally:
        stream.close()
        reader.close()
    return Walked(files, last, walk.notes, len(asked), pairs.lacking)


def by_files(git: Git, commits: Commits, progress: Progress) -> Walked:
    """Walk over the names of files: which commits made, changed and renamed them; no content is looked at."""
    pairs = Pairs(git, None)
    walk = Walk(commits, pairs, Ignored(frozenset(), git.blobs(), pairs), _notes(commits))
    progress.stage("dating files", len(commits))
    _go(walk, raw.events(git, commits, range(len(commits))), progress, None)
    return Walked(tip.read(git, commits), walk.states[commits.tip], walk.notes)


def _notes(commits: Commits) -> Notes:
    return Notes(eras.WATCHED, frozenset(commits.first_parent_line()), joins=frozenset(merge for merge, _ in eras.joins(commits)))


def _go(walk: Walk, events: Iterator[tuple[int, list[Change]]], progress: Progress, fresh: frozenset[int] | None, kept: Waypoints | None = None) -> None:
    walk.begin()
    done = 0
    for commit, changes in events:
        walk.advance(commit, changes)
        if kept is not None:
            kept.pass_by(commit, walk)
        done += not fresh or commit in fresh
        if done >= _STRIDE:
            progress.step(done)
            done = 0
    progress.step(done)


def _settled(files: Files, path: bytes, blob: bytes, lines: array[int]) -> Record:
    known = [commit for commit in lines if commit != UNKNOWN]
    record = files.get(path)
    if record is None:
        return Record(blob, lines, min(known, default=0), max(known, default=0), dated=blob)
    return replace(record, blob=blob, dated=blob, lines=lines, born=min([record.born, *known]))
