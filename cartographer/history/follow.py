# SPDX-License-Identifier: BSD-3-Clause
"""Renames as blame sees them. For a whole commit git pairs the files that go with those that come, one to one; when
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
    from cartographer.history.plumbing import Git

PLAIN = ("--no-renames", "--inter-hunk-context=0", "--diff-algorithm=default")


def refine(git: Git, commits: Commits, told: dict[int, list[Change]]) -> None:
    """Where a commit both renamed and made files, give the made ones the source that blame would find, if any."""
    asked = [commit for commit, changes in told.items() if {ADDED, RENAMED} <= {change.kind for change in changes}]
    if not asked:
        return
    # A search for copies knows all sources of `follow`, and some more: files that were changed and stay.
    command = ("diff-tree", "--stdin", "--root", "-r", "-z", "--raw", "-C", "--no-abbrev")
    stream = git.stream(*command, stdin=b"".join(commits.line(commit) for commit in asked))
    for name, rows in raw.parse(stream.pieces()):
        gone = {change.old or change.path for change, _ in rows if change.kind in {RENAMED, DELETED}}
        commit = commits.index[name]
        new = {change.path for change in told[commit] if change.kind == ADDED}
        for made, _ in rows:
            if made.old and made.path in new:
                parent = commits.ids[commits.parents[commit][0]]
                old = made.old if made.old in gone else source(git, parent, name, made.path, gone)
                if old is not None:
                    _replace(git, parent, told[commit], made.path, old)
    stream.close()


def source(git: Git, before: str, after: str, path: bytes, gone: Iterable[bytes]) -> bytes | None:
    """Which of the gone files became `path`, as git finds renames when it follows that one file."""
    names = [f":(top,literal){name.decode('utf-8', 'surrogateescape')}" for name in (path, *sorted(gone))]
    out = git.attempt("diff-tree", "-r", "-z", "--raw", "-M", "--no-abbrev", before, after, "--", *names) or b""
    rows = next(raw.parse(iter([b"0\0" + out])), ("", []))[1]
    return next((change.old for change, _ in rows if change.kind == RENAMED and change.path == path), None)


def hunks(git: Git, before: str, after: str) -> bytes | None:
    """The hunks between two blobs, or any two objects that git can name; None when one of them is not here."""
    out = git.attempt("diff", *PATCH, *PLAIN, before, after)
    if out is None:
        return None
    changes = [change for _, told in patch.parse([b"0" * 40 + b"\n" + out]) for change in told]
    return changes[0].hunks if changes else b""


def _replace(git: Git, parent: str, changes: list[Change], path: bytes, old: bytes) -> None:
    place = next((at for at, change in enumerate(changes) if change.path == path and change.kind == ADDED), None)
    if place is None or not changes[place].hunks:
        return
    blob = changes[place].blob
    found = hunks(git, f"{parent}:{old.decode('utf-8', 'surrogateescape')}", blob.decode("ascii"))
    if found is not None:
        changes[place] = Change(RENAMED, path, old, blob, found)
