# SPDX-License-Identifier: BSD-3-Clause
"""Finds commits that brought a foreign tree, so that lines that were copied in can be told from lines that were written.

A history that joins as a merge keeps its own dates, and needs no correction. A copy does not: all its lines seem as
young as the commit that brought them. Such a commit puts thousands of lines into new files, and gives itself away by
a licence file that comes along, by a folder for foreign code, by what it says it does, or by sheer mass.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.history.notes import LICENCE
from cartographer.model.atlas import Import

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.history.commits import Commits
    from cartographer.history.notes import Bulk
    from cartographer.history.plumbing import Git

_MASS = 10_000  # lines in one commit that nobody writes by hand
_SAYS = re.compile(
    r"\b(import(?!ant)\w*|fbsync|syncing|sync of|(?:chunky|manual) sync|sync$|fork(?:ed)?|vendor\w*|migrat\w+|embed|open[- ]?sourc\w*|oss|upstream\w*|backport\w*"
    r"|initial (?:release|import|commit|revamp)|clean init|merge \S+ (?:in)?to|move\b.*\b(?:repo|oss|pytorch|caffe2)|untracked files"
    r"|add \S+ from commit)\b",
    re.IGNORECASE,
)
_FOREIGN_FOLDER = re.compile(r"(?:^|/)(?:third[_-]?party|extern(?:al)?|vendor(?:ed)?|contrib/lib[^/]*)(?:/|$)")


def of(
    git: Git, commits: Commits, bulks: Mapping[int, Bulk], joined: Mapping[int, str], surviving: Mapping[int, int]
) -> tuple[Import, ...]:
    """The imports behind a tree, oldest first. `joined`: merge of a foreign history -> folder; `surviving`: lines left by commit."""
    wanted = sorted({*bulks, *joined} - commits.boundary)
    says = _subjects(git, commits, wanted)
    found = []
    for commit in wanted:
        bulk, left = bulks.get(commit), surviving.get(commit, 0)
        if commit in joined:
            kind, reason = "history", "a merge that brings a history of its own"
        elif bulk and left and len(commits.parents[commit]) < 2 and (reason := _reason(bulk, says[commit])):
            kind = "tree"
        else:
            continue
        folder = joined.get(commit, "") or (bulk.folder if bulk else "")
        vendored = kind == "tree" and bulk is not None and _vendored(bulk)
        lines, files = (bulk.lines, bulk.files) if bulk else (0, 0)
        found.append(
            Import(commits.ids[commit], commits.dates[commit], kind, folder, files, lines, left, says[commit], reason, vendored)
        )
    return tuple(found)


def vendored(paths: Iterable[str]) -> tuple[str, ...]:
    """The folders of a tree that hold third-party code: named so, or keeping a licence of their own; outermost ones."""
    found = set()
    for path in paths:
        folder, _, name = path.rpartition("/")
        if foreign := _FOREIGN_FOLDER.search(folder):
            found.add(folder[: foreign.end()].rstrip("/"))
        elif folder and LICENCE.search(name.encode()):
            found.add(folder)
    return tuple(sorted(folder for folder in found if not any(folder.startswith(f"{other}/") for other in found)))


def _reason(bulk: Bulk, subject: str) -> str:
    if bulk.licence:
        return f"brings a licence of its own: {bulk.licence}"
    if _FOREIGN_FOLDER.search(bulk.folder):
        return f"a folder for foreign code: {bulk.folder}"
    if said := _SAYS.search(subject):
        return f"says so: {said[0]!r}"
    return f"{bulk.lines} lines in {bulk.files} new files at once" if bulk.lines >= _MASS and bulk.files > 1 else ""


def _vendored(bulk: Bulk) -> bool:
    own = bulk.folder != "" and bulk.licence.rpartition("/")[0] == bulk.folder
    return own or _FOREIGN_FOLDER.search(bulk.folder) is not None


def _subjects(git: Git, commits: Commits, wanted: list[int]) -> dict[int, str]:
    if not wanted:
        return {}
    lines = "".join(f"{commits.ids[commit]}\n" for commit in wanted).encode("ascii")
    out = git.run("rev-list", "--no-walk=unsorted", "--stdin", "--format=%H %s", stdin=lines).decode("utf-8", "replace")
    rows = (row.partition(" ") for row in out.split("\n") if row and not row.startswith("commit "))
    return {commits.index[name]: subject for name, _, subject in rows}
