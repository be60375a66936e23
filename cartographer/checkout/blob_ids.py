# SPDX-License-Identifier: BSD-3-Clause
"""Computes blob ids as git does, and remembers them by file status so that unchanged files are not read again."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import os

    from cartographer.checkout.cache import Cache

UNREADABLE = "0" * 40
# A file changed less than this before it was hashed may change again without a new time stamp.
_RACE = 2_000_000_000


def blob_id(data: bytes) -> str:
    """The id that git gives to a blob with this content."""
    digest = hashlib.sha1(b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Identity:
    """What is known of a file's content: its blob id, its size, and whether the build made it."""

    blob: str
    size: int
    generated: bool = False


class _Entry(msgspec.Struct, frozen=True, array_like=True):
    """What a file's status was when its content had this id."""

    size: int
    changed: int
    status_changed: int
    inode: int
    blob: str
    kept_size: int  # of the content as the repository has it
    generated: bool


class _Memory(msgspec.Struct, array_like=True):
    """The file in the cache; `form` changes when the meaning of an entry does."""

    form: int
    place: str
    entries: dict[str, _Entry]


_FORM = 3


class BlobIds:
    """The blob ids of the files below one folder, remembered between builds. A damaged memory counts as empty."""

    def __init__(self, cache: Cache, place: str) -> None:
        self._cache = cache
        self._place = place
        self._name = ("blob-ids", hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:20] + ".msgpack")
        self._known = self._load()
        self._seen: dict[str, _Entry] = {}
        self._changed = False

    def known(self, name: str, status: os.stat_result) -> Identity | None:
        """The identity of a file when its status is as remembered; else None."""
        entry = self._known.get(name)
        if entry is None or (entry.size, entry.changed, entry.status_changed, entry.inode) != _key(status):
            return None
        self._seen[name] = entry
        return Identity(entry.blob, entry.kept_size, entry.generated)

    def remember(self, name: str, status: os.stat_result, identity: Identity) -> None:
        """Remember an identity, unless the file is too fresh for its time stamp to be trusted."""
        if identity.blob != UNREADABLE and time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _RACE:
            self._seen[name] = _Entry(*_key(status), identity.blob, identity.size, identity.generated)
            self._changed = True

    def save(self) -> None:
        """Write the memory to disk when something is new; files that no longer exist are forgotten."""
        if self._changed or len(self._seen) != len(self._known):
            memory = _Memory(_FORM, self._place, self._seen)
            self._cache.write(msgspec.msgpack.encode(memory), *self._name)

    def _load(self) -> dict[str, _Entry]:
        data = self._cache.read(*self._name)
        if data is None:
            return {}
        try:
            memory = msgspec.msgpack.decode(data, type=_Memory)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return {}
        return memory.entries if memory.form == _FORM and memory.place == self._place else {}


def _key(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
