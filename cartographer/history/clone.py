# SPDX-License-Identifier: BSD-3-Clause
"""Tells which dates a clone allows: those of lines, those of files alone, or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cartographer.history.commits import Commits
    from cartographer.history.gaps import Gaps
    from cartographer.history.plumbing import Git

_FEW = 0.05  # share of missing objects up to which one can go around them


@dataclass(frozen=True, slots=True)
class Ground:
    """What a clone is, as far as that can be told without looking at objects: partial, shallow, how many objects."""

    partial: str  # the filters that remotes promise missing objects for; "" = a clone that should be whole
    shallow: tuple[str, ...]  # where a shallow clone ends
    objects: str  # how many there are: it changes when some come in


def look(git: Git) -> Ground:
    """Find out whether a repository is partial or shallow."""
    common = git.text("rev-parse", "--path-format=absolute", "--git-common-dir") or str(git.folder)
    folder = git.folder.__class__(common)
    shallow = folder / "shallow"
    rows = git.text("config", "--get-regexp", r"^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$")
    return Ground(
        partial=", ".join(sorted({row.split(" ", 1)[-1] for row in rows.splitlines()} - {"true"})) or ("promisor" if rows else ""),
        shallow=tuple(sorted(shallow.read_text(encoding="ascii").split())) if shallow.is_file() else (),
        objects=git.text("count-objects", "-v"),
    )


def level(git: Git, commits: Commits, ground: Ground, gaps: Gaps, asked: str) -> tuple[str, str]:
    """How far dates can go ("lines", "files", "none"), and if not as far as asked, why and what to run."""
    if ground.partial and gaps.missing:
        if not _has_trees(git, commits, gaps):
            return "none", _lacks(git, "commits, but not the folders of the past")
        if asked == "lines" and len(gaps.missing) > _FEW * gaps.objects:
            return "files", _lacks(git, "commits and folders, but not what files held in the past. So files have dates (renames are known where nothing else changed), lines have not")
    return asked, ""


def _has_trees(git: Git, commits: Commits, gaps: Gaps) -> bool:
    """Whether the folders of all commits are here: without those of one, git cannot compare it with its neighbours. Where the history
    is short they are few among many contents.
    """
    return gaps.missing.isdisjoint(git.run("rev-list", "--format=%T", commits.ids[commits.tip]).split())


def _lacks(git: Git, what: str) -> str:
    return f"This clone is partial: it holds {what}. To date lines, run: git --git-dir={git.folder} fetch --refetch --no-filter"


def before(commits: Commits) -> str:
    """A sentence on what a shallow clone cannot tell; "" for a clone that is not shallow."""
    if not commits.boundary:
        return ""
    days = sorted(commits.dates[commit] for commit in commits.boundary)
    return (
        f"This clone is shallow: lines of {len(days)} commit{'s' * (len(days) > 1)} where it ends came in on or before {days[-1]}. "
        "To see further back, run: git fetch --unshallow"
    )
