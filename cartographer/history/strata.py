# SPDX-License-Identifier: BSD-3-Clause
"""Dates all lines of a tree: the history of one revision in, a dated tree out."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from cartographer.history import clone, commits, eras, imports, kept, releases, walks
from cartographer.history.gaps import Gaps
from cartographer.history.lines import NO_LINES, UNKNOWN, runs
from cartographer.history.pairs import Pairs
from cartographer.history.plumbing import repository
from cartographer.history.slices import Slices
from cartographer.history.stream import Stream
from cartographer.history.waypoints import Waypoints
from cartographer.model.atlas import FileDates, Strata
from cartographer.progress import SilentProgress

if TYPE_CHECKING:
    from pathlib import Path

    from cartographer.history.commits import Commits
    from cartographer.history.lines import Record
    from cartographer.history.plumbing import Git
    from cartographer.history.walks import Walked
    from cartographer.progress import Progress


@dataclass(frozen=True, slots=True)
class _Question:
    """What is to be dated, and what may be used for it."""

    git: Git
    rev: str
    level: str
    ground: clone.Ground
    tags: releases.Tags
    cache: Path | None
    progress: Progress
    workers: int


def date_tree(
    git_dir: Path,
    rev: str,
    *,
    level: str = "lines",
    cache_dir: Path | None = None,
    progress: Progress | None = None,
    workers: int = 2,
) -> Strata:
    """Date every file of a revision and, as far as the clone allows and `level` asks ("lines", "files", "none"), every line.

    Results are kept in `cache_dir`: a later revision costs only its new commits, and a run after a killed one goes on where that was.
    Raises HistoryError when there is no such revision or git cannot read the history.
    """
    if level == "none":
        return Strata("none", "No dates were asked for.")
    git = repository(git_dir)
    if git is None:
        return Strata("none", "The source is no git clone, so it has no history. A clone of PyTorch has one: --repo.")
    rev = commits.resolve(git, rev)
    tags, ground = releases.tags(git), clone.look(git)
    places = [kept.place(cache_dir, rev, level, tags, ground.shallow, *more) for more in ((), (ground.objects,))] if cache_dir else []
    for place in places:
        if (told := kept.load(place)) is not None:
            return told
    if ground.partial and not ground.shallow:
        git = git.of_objects()
    strata, lacking = _date(_Question(git, rev, level, ground, tags, cache_dir, progress or SilentProgress(), workers))
    if places:  # an answer for which something was lacking, even where all lines have a date, holds only until objects come in
        kept.save(places[1 if lacking or strata.level != level or _unknown(strata) else 0], strata)
    return strata


def _date(asked: _Question) -> tuple[Strata, bool]:
    """The dated tree, and whether the clone lacked something for it."""
    history = commits.read(asked.git, asked.rev)
    gaps = Gaps(asked.git, history, partial=bool(asked.ground.partial))
    level, reason = clone.level(asked.git, history, asked.ground, gaps, asked.level)
    if level == "none":
        return Strata("none", reason), True
    walked, first = _walk(asked, history, gaps, level)
    files, used = _files(history, walked, level)
    reasons = [text for text in (reason, clone.before(history), gaps.told(files)) if text]
    for text in reasons:
        asked.progress.note(text)
    asked.progress.stage("finding eras and imports")
    joined = {merge: walked.notes.folders.get(merge, "") for merge, _ in eras.joins(history)}
    surviving = Counter[int]()
    for file in files.values():
        for lines, commit in file.runs:
            surviving[used[commit] if commit >= 0 else UNKNOWN] += lines
    strata = Strata(
        level=level,
        reason=" ".join(reasons),
        commits=tuple((history.ids[commit], history.dates[commit]) for commit in used),
        files=files,
        eras=eras.of(history, walked.notes.firsts, joined),
        boundary=tuple(number for number, commit in enumerate(used) if commit in history.boundary),
        releases=tuple(name for name, _ in asked.tags),
        first_release=tuple(first[commit] for commit in used),
        imports=imports.of(asked.git, history, walked.notes.bulks, joined, surviving),
        vendored=imports.vendored(files),
    )
    return strata, walked.lacking


def _walk(asked: _Question, history: Commits, gaps: Gaps, level: str) -> tuple[Walked, list[int]]:
    """The tree at the end of the walk, and the first release of each commit."""
    first: list[int] = []

    def meanwhile() -> None:
        first.extend(releases.firsts(asked.git, history, asked.tags))

    if level == "files":
        meanwhile()
        return walks.by_files(asked.git, history, asked.progress), first
    pairs = Pairs(asked.git, asked.cache / "blobs.pairs" if asked.cache else None)
    stream = Stream(asked.git, history, Slices(asked.cache, asked.ground.objects), gaps, asked.workers)
    waypoints = partial(Waypoints, asked.cache, history, asked.ground)
    return walks.by_lines(asked.git, stream, pairs, waypoints, asked.progress, meanwhile), first


def _files(history: Commits, walked: Walked, level: str) -> tuple[dict[str, FileDates], tuple[int, ...]]:
    """The dates of all files, and the commits that own a line, which the runs point into."""
    laid = {path: runs(_lines(walked, path)) if level == "lines" else [] for path in walked.tip}
    used = tuple(sorted({commit for found in laid.values() for _, commit in found} - {UNKNOWN}))
    number = {commit: at for at, commit in enumerate(used)} | {UNKNOWN: -1}
    files = {}
    for path in sorted(walked.tip):
        record = walked.files.get(path)
        name = path.decode("utf-8", "replace")
        files[name] = FileDates(
            name,
            born=_day(history, record.born if record else None),
            changed=_day(history, record.changed if record else None),
            former_names=_former(path, record),
            runs=tuple((lines, number[commit]) for lines, commit in laid[path]),
        )
    return files, used


def _lines(walked: Walked, path: bytes) -> array[int]:
    count = walked.tip[path].lines
    record = walked.files.get(path)
    if count is None:
        return NO_LINES
    if record is None or len(record.lines) != count or record.dated != walked.tip[path].blob:
        return array("I", [UNKNOWN]) * count
    return record.lines


def _day(history: Commits, commit: int | None) -> str | None:
    # What a shallow clone's last commit holds was made then or long before.
    return None if commit is None or commit in history.boundary else history.dates[commit]


def _former(path: bytes, record: Record | None) -> tuple[str, ...]:
    names = dict.fromkeys(record.names if record else ())
    return tuple(name.decode("utf-8", "replace") for name in names if name != path)


def _unknown(strata: Strata) -> int:
    return sum(lines for file in strata.files.values() for lines, commit in file.runs if commit < 0)
