# SPDX-License-Identifier: BSD-3-Clause
"""What an existing clone allows the history stage to do: full, shallow, blobless, single contents missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.checkout.git import Git
from cartographer.model.source import HistoryAccess, HistoryLevel

if TYPE_CHECKING:
    from pathlib import Path

# A damaged clone lacks a few contents, a blobless one nearly all.
_FEW = 500


def of_clone(git_dir: Path, commit: str) -> HistoryAccess:
    """The access that a clone of the user's gives. Nothing is written to it and nothing fetched."""
    git = Git(git_dir)
    shallow = git.text("rev-parse", "--is-shallow-repository") == "true" and _is_cut(git, git_dir, commit)
    lacking = _count_missing(git, commit) if _is_partial(git, git_dir) else 0
    reasons = []
    if shallow:
        reasons.append(f"a shallow clone: dates before its oldest commit are not known; `git -C {git_dir} fetch --unshallow` brings the rest")
    if lacking >= _FEW:
        reasons.append(f"a clone without file contents: files can be dated, lines cannot; `git -C {git_dir} fetch --refetch --no-filter` brings them")
    elif lacking:
        reasons.append(f"{lacking} contents are missing: lines that they touch cannot be dated")
    level = HistoryLevel.FILES if lacking >= _FEW else HistoryLevel.LINES
    return HistoryAccess(str(git_dir), commit, level, shallow=shallow, reason="; ".join(reasons))


def _is_cut(git: Git, git_dir: Path, commit: str) -> bool:
    """Whether this commit's own history ends at a boundary; other branches' boundaries do not matter."""
    common = git.text("rev-parse", "--git-common-dir")
    try:
        shallow = frozenset((git_dir / common / "shallow").read_bytes().split())
    except OSError:
        return True
    return not shallow.isdisjoint(git.run("rev-list", commit).split())


def _is_partial(git: Git, git_dir: Path) -> bool:
    """Whether contents may be missing: a remote has promised them, or a pack says so."""
    if git.succeeds("config", "--get-regexp", r"^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$"):
        return True
    objects = git.text("rev-parse", "--git-path", "objects/pack")
    return any((git_dir / objects).glob("*.promisor"))


def _count_missing(git: Git, commit: str) -> int:
    """How many objects of a history are missing; counting stops once they are not few."""
    child = git.start("rev-list", "--objects", "--missing=print", "--no-object-names", commit)
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.close()
    missing = 0
    try:
        for line in child.stdout:
            missing += line.startswith(b"?")
            if missing >= _FEW:
                break
    finally:
        child.kill()
        child.stdout.close()
        child.wait()
    return missing
