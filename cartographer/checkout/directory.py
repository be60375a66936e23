# SPDX-License-Identifier: BSD-3-Clause
"""Reads an unpacked release or a checkout as a `Tree`: the bytes are those on disk."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from cartographer.checkout import refs
from cartographer.checkout.blob_ids import UNREADABLE, BlobIds, Identity, blob_id
from cartographer.checkout.git import Git, GitError, find_git_dir
from cartographer.checkout.git_tree import repository_refs
from cartographer.checkout.versions import (
    WITNESSES,
    find_version,
    is_safe,
    release_of,
    require_pytorch,
    version_of_commit,
)
from cartographer.errors import CheckoutError
from cartographer.model.source import Availability, HistoryAccess, SourceInfo, SourceKind, TreeFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from cartographer.checkout.cache import Cache

# Folders that hold no source of PyTorch's: version control, caches, environments, what a build leaves.
_PRUNED = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox"})
_PRUNED_AT_TOP = frozenset({"build", "dist", "torch.egg-info"})

_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_PIECE = 1 << 20


class DirectoryTree:
    """The regular files of a folder; symbolic links are not followed, as git does not."""

    def __init__(self, folder: Path, cache: Cache, only: Callable[[str], bool] | None = None) -> None:
        """`only`: the paths that will be asked for; the others are left out, which spares reading them all."""
        self.folder = _existing(folder)
        self._root = os.fspath(self.folder)
        self._unreadable: dict[str, str] = {}
        self.git_dir = find_git_dir(self.folder) if (self.folder / ".git").exists() else None
        self.history: HistoryAccess | None = None  # of the checkout, once it was looked at
        paths = self._paths(None if only is None else lambda path: path in WITNESSES or only(path))
        require_pytorch(paths.__contains__, self._root)
        self._files = tuple(self._hash(paths, BlobIds(cache, os.path.realpath(self._root)), whole=only is None))
        self._by_path = {file.path: file for file in self._files}
        self.info = self._describe()

    def files(self) -> tuple[TreeFile, ...]:
        """All regular files of the folder, sorted by path."""
        return self._files

    def read(self, path: str) -> bytes:
        """The bytes of one file. Raises CheckoutError."""
        if path not in self._by_path:
            raise CheckoutError(f"{self.info.version} has no such file", where=f"{self._root}/{path}")
        try:
            return read_regular(f"{self._root}/{path}")
        except OSError as error:
            self._unreadable[path] = str(error.strerror or error)
            raise CheckoutError(f"cannot be read: {error.strerror or error}", where=f"{self._root}/{path}") from error

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(path, bytes) in the order asked for; unreadable ones are left out."""
        for path in paths:
            if path in self._by_path:
                try:
                    data = self.read(path)
                except CheckoutError:
                    continue
                yield path, data

    def availability(self, path: str) -> Availability:
        """Whether the bytes of a path can be read, and if not, why."""
        if path in self._unreadable:
            return Availability.MISSING_BLOB
        return Availability.PRESENT if path in self._by_path else Availability.ABSENT

    def missing(self) -> tuple[str, ...]:
        """The files that could not be read, as far as that is known."""
        return tuple(sorted(self._unreadable))

    def _paths(self, only: Callable[[str], bool] | None) -> dict[str, os.stat_result]:
        """Path -> status. In a checkout the files that git tracks or would add; else all but what builds leave."""
        listed = self._listed_by_git()
        if listed is not None:
            names = {name.decode("utf-8", "surrogateescape") for name in listed.split(b"\0") if name}
            found = {name: _status(f"{self._root}/{name}") for name in names if (only is None or only(name)) and is_safe(name)}
            return {name: status for name, status in found.items() if status is not None and stat.S_ISREG(status.st_mode)}
        return dict(walk(self._root, _submodules(self._root), only))

    def _listed_by_git(self) -> bytes | None:
        """What git tracks or would add; None outside a checkout, and in one whose index is damaged."""
        if self.git_dir is None:
            return None
        try:
            return Git(self.git_dir).run(
                f"--work-tree={self._root}", "-C", self._root, "ls-files", "-z", "--cached", "--others", "--exclude-standard",
            )
        except GitError:
            return None

    def _hash(self, paths: dict[str, os.stat_result], memory: BlobIds, *, whole: bool) -> Iterator[TreeFile]:
        for path in sorted(paths):
            known = memory.known(path, paths[path])
            if known is None:
                known = self._hash_file(path)
                memory.remember(path, paths[path], known)
            yield TreeFile(path, known.blob, known.size)
        if whole:  # the memory forgets what it was not asked for
            memory.save()

    def _hash_file(self, path: str) -> Identity:
        try:
            data = read_regular(f"{self._root}/{path}")
        except OSError as error:
            self._unreadable[path] = str(error.strerror or error)
            return Identity(UNREADABLE, 0)
        return Identity(blob_id(data), len(data))

    def _describe(self) -> SourceInfo:
        def text(path: str) -> str | None:
            return self.read(path).decode("utf-8", "replace") if path in self._by_path else None

        commit, tag = self._head()
        if tag is not None:
            return SourceInfo(SourceKind.DIRECTORY, tag.removeprefix("v"), tag, commit, self._root)
        if commit is not None:
            version = version_of_commit(text("version.txt"), commit, "0.0.0")
            return SourceInfo(SourceKind.DIRECTORY, version, f"v{version}", commit, self._root)
        found = find_version(text, self.folder.name)
        if found is None:
            raise CheckoutError(
                "cannot tell which release this tree is: looked for torch/version.py, version.txt, debian/changelog and a folder "
                "name like pytorch-2.6.0", where=self._root, hint="write the version into version.txt, or rename the folder to pytorch-VERSION",
            )
        return SourceInfo(SourceKind.DIRECTORY, found.partition("+")[0], f"v{release_of(found)}", None, self._root)

    def _head(self) -> tuple[str | None, str | None]:
        """The commit that is checked out, and the release tag on it."""
        if self.git_dir is None:
            return None, None
        git = Git(self.git_dir)
        if not git.succeeds("rev-parse", "--verify", "--quiet", "HEAD^{commit}"):
            return None, None  # a repository without a commit
        commit = git.text("rev-parse", "--verify", "HEAD^{commit}")
        tags = [ref.removeprefix("refs/tags/") for ref, named in repository_refs(git).items() if named == commit and ref.startswith("refs/tags/")]
        return commit, max(filter(refs.numbers, tags), key=refs.release_order, default=None)


def read_regular(path: str) -> bytes:
    """The bytes of a regular file; a symbolic link or a pipe in its place is refused. Raises OSError."""
    handle = os.open(path, _OPEN)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "not a regular file")
        data = os.read(handle, status.st_size + 1)
        if len(data) == status.st_size:
            return data  # one byte more was asked for, and there was none
        parts = [data]
        while parts[-1]:  # it has changed since, or comes in pieces
            parts.append(os.read(handle, _PIECE))
        return b"".join(parts)
    finally:
        os.close(handle)


def _existing(folder: Path) -> Path:
    path = folder.expanduser().absolute()
    if not path.is_dir():
        raise CheckoutError("no such folder", where=str(path), hint="--source takes an unpacked PyTorch, a .whl file or the word `installed`")
    return path


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def walk(root: str, skipped: frozenset[str], only: Callable[[str], bool] | None = None) -> Iterator[tuple[str, os.stat_result]]:
    """The regular files below a folder that `only` lets through, without following links."""
    stack = [""]
    while stack:
        folder = stack.pop()
        try:
            entries = list(os.scandir(f"{root}/{folder}"))
        except OSError:
            continue
        if folder and any(entry.name == "pyvenv.cfg" for entry in entries):
            continue  # a Python environment inside the tree
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _PRUNED and path not in _PRUNED_AT_TOP and path not in skipped:
                    stack.append(path)
            elif (only is None or only(path)) and entry.is_file(follow_symlinks=False) and is_safe(path):
                try:
                    yield path, entry.stat(follow_symlinks=False)
                except OSError:
                    continue


def _submodules(root: str) -> frozenset[str]:
    """Folders that .gitmodules gives to other repositories: they are no files of PyTorch's."""
    try:
        text = read_regular(f"{root}/.gitmodules").decode("utf-8", "replace")
    except OSError:
        return frozenset()
    lines = (line.strip().partition("=") for line in text.splitlines())
    return frozenset(value.strip().strip('"').rstrip("/") for key, _, value in lines if key.strip() == "path")
