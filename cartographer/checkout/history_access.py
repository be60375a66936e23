# SPDX-License-Identifier: BSD-3-Clause
"""Finds out what an existing clone allows the history stage to do: full, shallow, blobless, single contents missing."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Annotated

import msgspec

from cartographer.checkout.git import Git, objects_of
from cartographer.model.source import HistoryAccess, HistoryLevel

if TYPE_CHECKING:
    from pathlib import Path

    from cartographer.checkout.cache import Cache

KIND = "missing"  # the folder in the cache
# A damaged clone lacks a few contents, a blobless one nearly all.
_FEW = 500
_KEPT = 8  # commits of a clone whose missing contents are kept
_Id = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{40,64}$")]  # nothing else goes back to git


def of_clone(git_dir: Path, commit: str, cache: Cache | None = None) -> HistoryAccess:
    """The access that a clone of the user's gives. Nothing is written to it and nothing is fetched.

    `cache` keeps what was found missing: the history of a near release is walked no further than to that of one before.
    """
    git = Git(git_dir)
    shallow = git.text("rev-parse", "--is-shallow-repository") == "true" and _is_cut(git, git_dir, commit)
    lacking = _count_missing(git, git_dir, commit, cache) if _is_partial(git, git_dir) else 0
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
    return any(_packs(git, git_dir).glob("*.promisor"))


def _packs(git: Git, git_dir: Path) -> Path:
    return git_dir / git.text("rev-parse", "--git-path", "objects/pack")


def _count_missing(git: Git, git_dir: Path, commit: str, cache: Cache | None) -> int:
    """How many objects of a history are missing; counting stops once they are not few."""
    name = _name_of(git, git_dir)
    kept = _kept(cache, name)
    missing = _found_missing(git, git_dir, commit, kept)
    if cache is not None and len(missing) < _FEW:
        newest = {commit: sorted(missing), **{of: ids for of, ids in kept.items() if of != commit}}
        cache.keep(msgspec.json.encode(dict(list(newest.items())[:_KEPT])), KIND, name)
    return len(missing)


def _found_missing(git: Git, git_dir: Path, commit: str, kept: dict[str, list[str]]) -> frozenset[str]:
    """What a history lacks: what that of a commit before is known to lack, and what came after. Where nothing is lacking, any will do."""
    for of, ids in kept.items():
        if of == commit or not ids or git.succeeds("merge-base", "--is-ancestor", of, commit):
            since = frozenset[str]() if of == commit else _missing(git, commit, "--not", of)
            if since is not None:
                return _still(git_dir, since.union(ids))
    return _missing(git, commit) or frozenset()


def _missing(git: Git, *commits: str) -> frozenset[str] | None:
    """The ids of objects that are not there, at most as many as are few; None when git cannot walk there."""
    child = git.start("rev-list", "--objects", "--missing=print", "--no-object-names", *commits)
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.close()
    missing: set[str] = set()
    try:
        for line in child.stdout:
            if line.startswith(b"?"):
                missing.add(line[1:].decode("ascii", "replace").strip())
                if len(missing) >= _FEW:
                    return frozenset(missing)
        return frozenset(missing) if child.wait() == 0 else None
    finally:
        child.kill()
        child.stdout.close()
        child.wait()


def _still(git_dir: Path, missing: frozenset[str]) -> frozenset[str]:
    """Those that are missing now: they may have been fetched one by one. Asked by its name in the clone itself, a promised object
    would be sent for, and git ends where it may not.
    """
    asked = "".join(f"{name}\n" for name in sorted(missing)).encode()
    told = objects_of(git_dir).text("cat-file", "--batch-check", data=asked) if missing else ""
    return frozenset(line.removesuffix(" missing") for line in told.splitlines() if line.endswith(" missing"))


def _name_of(git: Git, git_dir: Path) -> str:
    """The name under which it is kept what a clone lacks: another one when its packs are others."""
    packs = sorted(pack.name for pack in _packs(git, git_dir).glob("*.pack"))
    return hashlib.sha256("\0".join([str(git_dir.absolute()), *packs]).encode("utf-8", "surrogateescape")).hexdigest()[:20]


def _kept(cache: Cache | None, name: str) -> dict[str, list[str]]:
    """Commit -> ids of what its history lacks, the newest first."""
    try:
        return msgspec.json.decode((cache and cache.read(KIND, name)) or b"{}", type=dict[_Id, list[_Id]])
    except (msgspec.MsgspecError, RecursionError):
        return {}
