# SPDX-License-Identifier: BSD-3-Clause
"""Keeps patches that were read on disk, in slices that are found again by commit and first parent.

A slice is written under another name and then renamed, so a run that is killed leaves whole slices behind and the
next one goes on from there. They depend on nothing but the commits, so all clones of one history share them.
"""

from __future__ import annotations

import hashlib
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from cartographer.checkout import cache
from cartographer.history.patch import Change

if TYPE_CHECKING:
    from pathlib import Path

_MAGIC = b"strata-slice-7\n"
_KEY = 40
_decode = msgspec.msgpack.Decoder(list[list[Change]]).decode
_encode = msgspec.msgpack.Encoder().encode


def write_whole(target: Path, data: bytes) -> None:
    """Put a file in its place at once, or not at all, with the folders above it. Raises CheckoutError."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cache.write_error(error, target.parent) from error
    cache.write_whole(target, data)


class Slices:
    """The slices in one cache folder. What holds only until objects come into the clone (`objects`) is kept apart."""

    def __init__(self, folder: Path | None, objects: str = "") -> None:
        self._folder = folder
        self._holed = hashlib.sha256(objects.encode()).hexdigest()[:12]
        self._where: dict[bytes, tuple[Path, int]] = {}
        self._open: dict[Path, list[list[Change]]] = {}
        found = [*folder.glob("*.slice"), *folder.glob(f"*.{self._holed}.holed")] if folder else []
        for path in sorted(found):
            for number, key in enumerate(_keys(path)):
                self._where[key] = (path, number)

    def __contains__(self, key: bytes) -> bool:
        return key in self._where

    def changes(self, key: bytes) -> list[Change] | None:
        """What a commit did; None when no slice has it, or only a damaged one."""
        place = self._where.get(key)
        if place is None:
            return None
        path, number = place
        if path not in self._open:
            self._open[path] = _body(path)
        rows = self._open[path]
        return rows[number] if number < len(rows) else None

    def close(self) -> None:
        """Drop what was read into memory."""
        self._open.clear()

    def add(self, keys: list[bytes], rows: list[list[Change]], *, holds: bool = True) -> None:
        """Keep what some commits did, as git told it; not those in `holds`, whose patches lacked blobs."""
        if self._folder is None or not keys:
            return
        head = b"".join(keys)
        name = hashlib.sha256(head).hexdigest()[:24] + (".slice" if holds else f".{self._holed}.holed")
        data = _MAGIC + len(head).to_bytes(4, "big") + head + zlib.compress(_encode(rows), 1)
        write_whole(self._folder / name, data)


def _keys(path: Path) -> list[bytes]:
    try:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return []
            head = file.read(min(int.from_bytes(file.read(4), "big"), path.stat().st_size))
    except OSError:
        return []
    return [head[start : start + _KEY] for start in range(0, len(head) - _KEY + 1, _KEY)]


def _body(path: Path) -> list[list[Change]]:
    try:
        data = path.read_bytes()
        start = len(_MAGIC)
        head = int.from_bytes(data[start : start + 4], "big")
        return _decode(zlib.decompress(memoryview(data)[start + 4 + head :]))
    except (OSError, zlib.error, msgspec.DecodeError):
        with suppress(OSError):
            path.unlink()
        return []
