# SPDX-License-Identifier: BSD-3-Clause
"""Opens the one `Tree` that a request means: which kind of source serves it, and what to use instead when it cannot be had."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cartographer.checkout import pypi, refs
from cartographer.checkout.cache import Cache
from cartographer.checkout.clone import DEFAULT_URL, KIND, Store, Unreachable
from cartographer.checkout.directory import DirectoryTree
from cartographer.checkout.git import Git, GitError, find_git_dir
from cartographer.checkout.git_tree import GitTree, resolve
from cartographer.checkout.history_access import of_clone
from cartographer.checkout.installed import open_installed
from cartographer.checkout.versions import release_of
from cartographer.checkout.wheel import WheelTree, open_wheel
from cartographer.errors import CheckoutError, UnknownVersion, UsageError
from cartographer.model.source import HistoryAccess, HistoryLevel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cartographer.model.source import Tree
    from cartographer.progress import Progress

_URL = re.compile(r"[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:", re.IGNORECASE)
INSTALLED = "installed"


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """What a user asked to read. At most one of `repo`, `source` and `from_wheel` is set."""

    version: str | None = None  # v2.11.0, 2.11.0, a branch, a commit
    repo: str | None = None  # path or URL of a clone
    source: str | None = None  # a folder, a .whl file, or the word "installed"
    from_wheel: bool = False
    history: HistoryLevel = HistoryLevel.LINES
    offline: bool = False
    cache: Path | None = None
    python: Path | None = None  # whose torch "installed" means; None: the running Python
    url: str = DEFAULT_URL

    def __post_init__(self) -> None:
        if sum((self.repo is not None, self.source is not None, self.from_wheel)) > 1:
            raise UsageError("--repo, --source and --from wheel exclude each other", hint="give one of them")
        if self.version is None and self.source is None and self.repo is None:
            raise UsageError("which PyTorch?", hint="give a version such as v2.11.0, or --source, or --repo")
        if self.python is not None and self.source != INSTALLED:
            raise UsageError("--python goes with --source installed only")
        if self.version is not None:
            refs.check_version(self.version)


def open_tree(
    request: SourceRequest, progress: Progress, only: Callable[[str], bool] | None = None, of_releases: Callable[[str], bool] | None = None,
) -> Tree:
    """The tree that a request means; `only`: the paths that will be asked for, when it is not the whole tree;
    `of_releases`: the files that a clone of our own brings of all other releases too.

    Raises CheckoutError, UnknownVersion or UsageError.
    """
    cache = Cache(request.cache)
    if not cache.writable:
        progress.note(f"the cache {cache.root} cannot be written to; nothing is kept for the next build")
    if request.source is not None:
        tree = _open_source(request.source, cache, request.python, only)
        _check_stated(request, tree)
    elif request.from_wheel:
        tree = _open_index(request, cache, progress, only)
    elif request.repo is not None and not _URL.match(request.repo):
        tree = _open_repository(Path(request.repo), request.version or "HEAD", request.history)
    else:
        tree = _open_remote(request, cache, progress, of_releases)
    _tell_missing(tree, progress)
    return tree


def remote_tags(url: str | None, progress: Progress, *, offline: bool = False) -> Mapping[str, str]:
    """All tags of a remote repository, full name -> commit; those in the cache when it cannot be reached. `offline`: only those whose
    files the cache has. Raises Unreachable.
    """
    store = Store(Cache(), url or DEFAULT_URL, progress)
    if offline:
        here, known = store.tags_at_hand(), store.tags()
        if not here:
            raise Unreachable("no release is in the cache", where=store.url, hint="leave out --offline to fetch them")
        if len(here) < len(known):
            progress.note(f"{len(here)} of the {len(known)} tags that the cache knows are meant: of the others it holds no files")
        return here
    try:
        return store.remote_tags()
    except Unreachable as lost:
        here = store.tags()
        if not here:
            raise
        progress.note(f"{store.url} cannot be reached ({lost.message}); its tags in the cache are meant")
        return here


def history_repository(tree: Tree, cache: Cache | None = None) -> HistoryAccess | None:
    """The repository in which the history of a tree can be read, and how much of it is there; None when there is no git at all. `cache`
    keeps what is found out about a clone.
    """
    if isinstance(tree, GitTree):
        tree.history = tree.history or of_clone(tree.git_dir, tree.commit, cache)
        return tree.history
    if isinstance(tree, DirectoryTree) and tree.git_dir is not None and tree.info.commit is not None:
        tree.history = tree.history or of_clone(tree.git_dir, tree.info.commit, cache)
        return tree.history
    return None


def _open_source(source: str, cache: Cache, python: Path | None, only: Callable[[str], bool] | None) -> Tree:
    """--source: a word, a file or a folder."""
    if source == INSTALLED:
        return open_installed(cache, python)
    path = Path(source)
    if path.suffix == ".whl" or (path.is_file() and not path.is_dir()):
        return open_wheel(path, cache, only)
    if find_git_dir(path) is not None and not (path / ".git").exists():
        raise UsageError(f"{source} is a bare repository, not a folder of files", hint=f"use --repo {source} with a version")
    return DirectoryTree(path, cache, only)


def _open_repository(path: Path, version: str, asked: HistoryLevel) -> GitTree:
    """--repo PATH: an existing clone, which is only read; of its history no more than is asked for."""
    described = os.fspath(path)
    git_dir = find_git_dir(path)
    if git_dir is None:
        found = "no such folder" if not path.exists() else "not a git repository"
        raise CheckoutError(found, where=described, hint="--repo takes the path or URL of a clone of PyTorch; an unpacked tree goes to --source")
    tree = GitTree(git_dir, resolve(Git(git_dir), version, described), described)
    if asked is HistoryLevel.NONE or (asked is HistoryLevel.FILES and of_clone(git_dir, tree.commit).level is HistoryLevel.LINES):
        tree.history = HistoryAccess(str(git_dir), tree.commit, asked, reason=f"only --history {asked.value} was asked for")
    return tree


def _open_index(request: SourceRequest, cache: Cache, progress: Progress, only: Callable[[str], bool] | None = None) -> WheelTree:
    """--from wheel."""
    assert request.version is not None
    return open_wheel(pypi.find_wheel(request.version, cache, progress, offline=request.offline), cache, only)


def _open_remote(request: SourceRequest, cache: Cache, progress: Progress, of_releases: Callable[[str], bool] | None) -> Tree:
    """The store of a remote; without a version given and the remote out of reach, the wheel."""
    try:
        return _open_store(request, cache, progress, of_releases)
    except GitError as error:
        raise CheckoutError(
            error.message, where=error.where,
            hint=error.hint or "if the clone in the cache is damaged, `cartographer clean` removes it, and the next build fetches it anew",
        ) from error
    except Unreachable as lost:
        if request.repo is not None or request.version is None or not refs.numbers(request.version):
            raise
        try:
            tree = _open_index(request, cache, progress)
        except UnknownVersion:
            raise
        except CheckoutError as error:
            raise CheckoutError(
                f"the repository cannot be reached ({lost.message}), and no wheel serves instead: {error.message}", where=lost.where,
                hint="read what is at hand: --repo PATH (a clone), --source DIR (an unpacked tree), --source FILE.whl or --source installed",
            ) from error
        progress.note(
            f"{lost.where} cannot be reached, so this atlas is made from the wheel {tree.info.described}: it has operators, bindings, headers and "
            "Python, but no kernel bodies and no history. For those build again when the repository can be reached, or give a clone with --repo.",
        )
        return tree


def _open_store(request: SourceRequest, cache: Cache, progress: Progress, of_releases: Callable[[str], bool] | None) -> GitTree:
    """A tree from the store, fetched as far as it is lacking."""
    url = request.repo or request.url
    version = request.version or "HEAD"
    probe = Store(cache, url, progress)
    here = probe.find(version)
    if here is not None and (here.tag is not None or not here.ref) and probe.is_complete(here.commit, request.history):
        return _store_tree(probe, here, url, request.history)  # tags and commits do not move: no network needed
    if request.offline:
        return _offline(probe, here, url, request, progress)
    if not cache.writable:
        cache = Cache.passing()
        probe = Store(cache, url, progress)
        progress.note(f"the clone is kept in {cache.root} until this build ends")
    progress.stage(f"asking {url} for {version}")
    try:
        wanted = probe.ask(version) if here is None or here.tag is None else here
    except Unreachable as lost:
        if here is None or probe.level(here.commit) is None:
            raise
        progress.note(f"{url} cannot be reached ({lost.message}); using what is in the cache")
        return _offline(probe, here, url, request, progress)
    with cache.lock(f"{KIND}-{probe.path.name}", progress) as lock:
        store = Store(cache, url, progress, keep=() if lock.fileno is None else (lock.fileno,))
        if not store.is_complete(wanted.commit, request.history):
            store.prepare()
            store.bring(wanted, request.history, of_releases)
    return _store_tree(store, wanted, url, request.history)


def _offline(store: Store, here: refs.Resolved | None, url: str, request: SourceRequest, progress: Progress) -> GitTree:
    """What the store has, with a word on what it lacks."""
    if here is None or store.level(here.commit) is None:
        raise Unreachable(f"{request.version or 'HEAD'} is not in the cache", where=url, hint="leave out --offline to fetch it")
    if not store.is_complete(here.commit, request.history):
        progress.note(f"the cache holds less history than --history {request.history.value} asks for")
    return _store_tree(store, here, url, request.history)


def _store_tree(store: Store, found: refs.Resolved, url: str, asked: HistoryLevel) -> GitTree:
    """The tree with the history that the store keeps for it, though no more than was asked for."""
    tree = GitTree(store.path, found, url)
    have = store.level(found.commit) or HistoryLevel.NONE
    level = have if asked is HistoryLevel.LINES or have is HistoryLevel.NONE else asked
    lacking = "" if level is HistoryLevel.LINES else (
        f"only --history {level.value} was asked for; `cartographer build {tree.info.tag} --history lines` brings the rest"
    )
    tree.history = HistoryAccess(str(store.path), found.commit, level, shallow=have is HistoryLevel.NONE, reason=lacking)
    return tree


def _check_stated(request: SourceRequest, tree: Tree) -> None:
    """A version given beside --source must be the one that is there."""
    if request.version is not None and request.version not in {tree.info.tag, tree.info.version, tree.info.commit}:
        stated = release_of(request.version.removeprefix("v"))
        if stated != release_of(tree.info.version):
            raise UsageError(f"{request.source} holds {tree.info.version}, not {request.version}", hint="leave the version out")


def _tell_missing(tree: Tree, progress: Progress) -> None:
    """Say which files of a damaged or partial source give no bytes."""
    missing = tree.missing() if isinstance(tree, GitTree | DirectoryTree | WheelTree) else ()
    if missing:
        shown = ", ".join(missing[:3]) + (" ..." if len(missing) > 3 else "")
        progress.note(f"{len(missing)} of {len(tree.files())} files cannot be read from this source and are left out: {shown}")
