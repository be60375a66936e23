# SPDX-License-Identifier: BSD-3-Clause
"""Follows renames as blame does. For a whole commit git pairs the files that go with those that come, one to one; when
it follows a single file, as `git blame` does, it may also take a source that the pairing gave to another file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.history import patch, raw
from cartographer.history.patch import ADDED, DELETED, RENAMED, Change
from cartographer.history.plumbing import PATCH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.history.commits import Commits
    from cartographer.history.plumbing import Asker, Git

PLAIN = ("--no-renames", "--inter-hunk-context=0", "--diff-algorithm=default")


# A search for copies knows all sources that blame does, and some more: files that were changed and stay.
COPIES = ("diff-tree", "--stdin", "--root", "-r", "-z", "--raw", "-C", "--no-abbrev")


def refine(git: Git, commits: Commits, told: dict[int, list[Change]], copies: Asker) -> None:
    """Give new and renamed files the source that blame would find, where a commit leaves a choice."""
    asked = [commit for commit, changes in told.items() if _leaves_a_choice(changes)]
    if not asked:
        return
    for name, rows in list(raw.parse(copies.ask(b"".join(commits.line(commit) for commit in asked)))):
        commit = commits.index[name]
        paired = {change.path: change for change in told[commit] if change.kind == ADDED or (change.kind == RENAMED and change.blob)}
        gone = {change.old or change.path for change, _ in rows if change.kind in {RENAMED, DELETED}}
        for likely, _ in rows:
            change = paired.get(likely.path)
            if change is not None and likely.old and likely.old != change.old:
                parent = commits.ids[commits.parents[commit][0]]
                old = source(git, parent, name, change.path, gone)
                if old and old != change.old:
                    _replace(git, parent, change, old)


def _leaves_a_choice(changes: list[Change]) -> bool:
    renamed = [change for change in changes if change.kind == RENAMED]
    gone = len(renamed) + sum(change.kind == DELETED for change in changes)
    return bool(renamed) and (any(change.kind == ADDED for change in changes) or (gone > 1 and any(change.blob for change in renamed)))


def source(git: Git, before: str, after: str, path: bytes, gone: Iterable[bytes]) -> bytes | None:
    """The gone file that became `path`, found as git finds renames when it follows that one file; b"" when none did, None when the clone
    lacks one of them.
    """
    names = [f":(top,literal){name.decode('utf-8', 'surrogateescape')}" for name in (path, *sorted(gone))]
    out = git.attempt("diff-tree", "-r", "-z", "--raw", "-M", "--no-abbrev", before, after, "--", *names)
    if out is None:
        return None
    rows = next(raw.parse(iter([b"0\0" + out])), ("", []))[1]
    return next((change.old for change, _ in rows if change.kind == RENAMED and change.path == path), b"")


def hunks(git: Git, before: str, after: str) -> bytes | None:
    """The hunks between two blobs, or any two objects that git can name; None when the clone lacks one of them."""
    out = git.attempt("diff", *PATCH, *PLAIN, before, after)
    if out is None:
        return None
    changes = [change for _, told in patch.parse([b"0" * 40 + b"\n" + out]) for change in told]
    return changes[0].hunks if changes else b""


def _replace(git: Git, parent: str, change: Change, old: bytes) -> None:
    if not change.blob or (change.kind == ADDED and not change.hunks):
        return
    found = hunks(git, f"{parent}:{old.decode('utf-8', 'surrogateescape')}", change.blob.decode("ascii"))
    if found is not None:
        change.kind, change.old, change.hunks = RENAMED, old, found


def same_content(path: bytes, blob: bytes, gone: Iterable[tuple[bytes, bytes]]) -> bytes | None:
    """Which gone file (name, blob) an unchanged one came from: git prefers one with the same base name, then the first."""
    names = sorted(name for name, content in gone if content == blob)
    base = path.rpartition(b"/")[2]
    return next((name for name in names if name.rpartition(b"/")[2] == base), names[0] if names else None)
