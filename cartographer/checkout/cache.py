# SPDX-License-Identifier: BSD-3-Clause
"""The cache on disk: where it is, who may write to it, how large it is, and how it is emptied."""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import shutil
import socket
import stat
import tempfile
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cartographer import atomic
from cartographer.errors import CheckoutError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.progress import Progress

_CHECKSUM = 4  # bytes
_USE = "in-use"  # the lock that all who work in the cache share
ENVIRONMENT = "CARTOGRAPHER_CACHE"
_FULL = {errno.ENOSPC, errno.EDQUOT}


def default_root() -> Path:
    """The cache folder of this user, or the one that CARTOGRAPHER_CACHE names."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        return Path(named).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_cache_dir("cartographer", appauthor=False))


def write_error(error: OSError, path: Path) -> CheckoutError:
    """The CheckoutError for a write that failed, with what to do about it."""
    if error.errno in _FULL:
        return CheckoutError(
            "the disk is full", where=str(path),
            hint=f"free some space (`cartographer clean` empties the cache), or let {ENVIRONMENT} name a folder on another disk",
        )
    return CheckoutError(
        f"cannot write: {error.strerror or error}", where=str(path),
        hint=f"let {ENVIRONMENT} name a folder that can be written to",
    )


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One part of the cache that can be removed by itself."""

    kind: str  # the folder under the root: repositories, wheels, facts ...
    name: str
    path: Path
    size: int  # bytes on disk
    used: float  # when it was last changed, seconds since the epoch


class Lock:
    """A held lock; `fileno` is handed to child processes, which so keep it while they live."""

    def __init__(self, handle: int | None) -> None:
        self._handle = handle

    @property
    def fileno(self) -> int | None:
        """The open lock file; None when the cache cannot be written to."""
        return self._handle


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM, "big")


class Cache:
    """The folder in which clones, wheels and results are kept between builds."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root if root is not None else default_root()
        self._writable: bool | None = None

    @classmethod
    def passing(cls) -> Cache:
        """A cache for this process alone, for use where no other can be written to."""
        root = Path(tempfile.mkdtemp(prefix="cartographer-passing-"))
        atexit.register(shutil.rmtree, root, ignore_errors=True)
        return cls(root)

    def folder(self, *parts: str) -> Path:
        """A folder inside the cache, made when the cache can be written to."""
        path = self.root.joinpath(*parts)
        if self.writable:
            try:
                path.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise write_error(error, path) from error
        return path

    @property
    def writable(self) -> bool:
        """Whether anything can be kept; tried once. A full disk raises an error, it does not make a read-only cache."""
        if self._writable is None:
            try:
                self.root.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=self.root) as probe:
                    probe.write(b"probe")
            except OSError as error:
                if error.errno in _FULL:
                    raise write_error(error, self.root) from error
                self._writable = False
            else:
                self._writable = True
        return self._writable

    def is_own(self, *parts: str) -> bool:
        """Whether nobody but this user and root can have written what is kept under a name, so that it may be executed. Each folder on the way
        is checked too: whoever may write to a folder can replace what is in it.
        """
        if not hasattr(os, "getuid"):
            return False
        try:
            root = self.root.resolve()
            inside = (root.joinpath(*parts[:number]) for number in range(len(parts) + 1))
            return all(map(_is_ours, inside)) and all(map(_is_safe_above, {*self.root.absolute().parents, *root.parents}))
        except OSError:
            return False

    def read(self, *parts: str) -> bytes | None:
        """The bytes kept under a name; None where there are none, or no longer those that were written."""
        try:
            found = self.root.joinpath(*parts).read_bytes()
        except OSError:
            return None
        checksum, data = found[:_CHECKSUM], found[_CHECKSUM:]
        return data if checksum == _checksum(data) else None

    def write(self, data: bytes, *parts: str) -> None:
        """Keep bytes under a name, a checksum before them: whole or not at all. Without a writable cache nothing is kept."""
        if not self.writable:
            return
        target = self.root.joinpath(*parts)
        self.folder(*parts[:-1])
        write_whole(target, _checksum(data) + data)

    def keep(self, data: bytes, *parts: str) -> None:
        """Like `write`, for what can be made again: failing to keep it is no error."""
        with contextlib.suppress(CheckoutError):
            self.write(data, *parts)

    @contextlib.contextmanager
    def lock(self, name: str, progress: Progress | None = None, *, patience: float = 24 * 3600) -> Iterator[Lock]:
        """Hold the lock `name`; waits for another build and reports that. The lock of a dead process does not count."""
        if not self.writable:
            yield Lock(None)
            return
        path = self.folder("locks") / f"{name}.lock"
        try:
            handle = _open(path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise write_error(error, path) from error
        try:
            _acquire(handle, path, progress, patience)
            if name != _USE:
                _sign(handle)
            yield Lock(handle)
        finally:
            _close(handle)

    @contextlib.contextmanager
    def in_use(self, progress: Progress | None = None) -> Iterator[None]:
        """Work in the cache: any number of processes may at once, and what they found there stays until all have ended. Where no such
        lock is possible, as in a cache of somebody else's, the work goes on without it.
        """
        path = self.root / "locks" / f"{_USE}.lock"
        handle = None
        with contextlib.suppress(OSError, CheckoutError):
            missing = self.writable and not path.exists()
            handle = _open(self.folder("locks") / path.name, os.O_RDONLY | os.O_CREAT) if missing else _open(path, os.O_RDONLY)
        if handle is None:
            yield
            return
        try:
            _acquire(handle, path, progress, 24 * 3600, shared=True)
            yield
        finally:
            _close(handle)

    def entries(self) -> tuple[CacheEntry, ...]:
        """The parts of the cache, sorted by kind and name."""
        found = []
        for kind in _children(self.root):
            if kind.name == "locks" or not kind.is_dir():
                continue
            for child in _children(kind):
                size, used = _measure(child)
                found.append(CacheEntry(kind.name, child.name, child, size, used))
        return tuple(found)

    def clean(self, kinds: frozenset[str] | None = None) -> int:
        """Remove everything, or the kinds named; returns the number of bytes freed. A build in progress is an error, and so is a git
        that a killed build left behind, which holds the lock of what it fetches into.
        """
        freed = 0
        with self.lock(_USE, patience=0):
            chosen = [entry for entry in self.entries() if kinds is None or entry.kind in kinds]
            for entry in chosen:
                with self.lock(f"{entry.kind}-{entry.name}", patience=0):
                    try:
                        shutil.rmtree(entry.path) if entry.path.is_dir() else entry.path.unlink()
                    except OSError as error:
                        raise write_error(error, entry.path) from error
                freed += entry.size
        return freed


class OwnPart:
    """The part of a cache that nobody else can have written (`Cache.is_own`). Whoever keeps something here must also do without it."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def read(self, *parts: str) -> bytes | None:
        """Like `Cache.read`; None for what somebody else may have written."""
        return self._cache.read(*parts) if self._cache.is_own(*parts) else None

    def write(self, data: bytes, *parts: str) -> None:
        """Like `Cache.keep`, but only where `read` would accept it again."""
        if self._cache.is_own(*parts[:-1]):
            self._cache.keep(data, *parts)


def _is_ours(path: Path) -> bool:
    """Whether a thing is this user's and nobody else may write to it; what is not there yet will be. A link below the root is not."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return True
    return found.st_uid == os.getuid() and not found.st_mode & 0o022


def _is_safe_above(folder: Path) -> bool:
    """Whether nobody else can move what a folder holds; in one like /tmp, each moves only what is his."""
    found = folder.stat()
    return found.st_uid in {0, os.getuid()} and (not found.st_mode & 0o022 or bool(found.st_mode & stat.S_ISVTX))


def write_whole(target: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all. Raises CheckoutError."""
    try:
        atomic.write_whole(target, data)
    except OSError as error:
        raise write_error(error, target) from error


_handles: set[int] = set()  # of the locks that this process holds


def _open(path: Path, flags: int) -> int:
    handle = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o644)
    _handles.add(handle)
    return handle


def _close(handle: int) -> None:
    if handle in _handles:
        _handles.discard(handle)
        os.close(handle)


def _let_go() -> None:
    """In a copy of this process: the locks are its parent's, and end with it, however long the copy lives."""
    for handle in tuple(_handles):
        with contextlib.suppress(OSError):
            _close(handle)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def _acquire(handle: int, path: Path, progress: Progress | None, patience: float, *, shared: bool = False) -> None:
    """Take the lock, waiting for its holder; the kernel frees it when the holder ends, however it ends."""
    if not _try_lock(handle, shared=shared):
        holder = os.pread(handle, 200, 0).decode("utf-8", "replace").strip() if hasattr(os, "pread") else ""
        told = f" ({holder})" if holder else ""
        if progress is not None and patience > 0:
            progress.note(f"another cartographer{told} works in this cache; waiting for it")
        limit = time.monotonic() + patience
        while not _try_lock(handle, shared=shared):
            if time.monotonic() >= limit:
                raise CheckoutError(
                    f"another cartographer{told} is using this part of the cache", where=str(path),
                    hint=f"wait until it has ended, or let {ENVIRONMENT} name another folder",
                )
            time.sleep(0.2)


def _sign(handle: int) -> None:
    """Write into a lock who holds it."""
    with contextlib.suppress(OSError):
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode())


def _try_lock(handle: int, *, shared: bool) -> bool:
    """Lock an open file without waiting, for us alone or with others; where the system has no file locks, every try succeeds."""
    try:
        import fcntl
    except ImportError:  # Windows: two builds at once are told apart by the atomic swaps alone
        return True
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES}  # others: a file system without locks
    return True


def _children(folder: Path) -> list[Path]:
    """What lies in a folder, sorted; nothing when there is no such folder."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _measure(path: Path) -> tuple[int, float]:
    """Bytes on disk and last change of a file or folder; symbolic links are not followed."""
    size, used = 0, 0.0
    stack = [path]
    while stack:
        current = stack.pop()
        with contextlib.suppress(OSError):
            found = current.lstat()
            used = max(used, found.st_mtime)
            if current.is_dir() and not current.is_symlink():
                stack.extend(current.iterdir())
            else:
                size += found.st_size
    return size, used
