# SPDX-License-Identifier: BSD-3-Clause
"""Keeps facts between builds, by blob id, language and the scanner's own version.

Losing an entry costs a scan, never a build: a damaged file is set aside, a damaged entry is scanned anew.
"""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from cartographer.makers import sources_digest
from cartographer.model.fact import FileFacts
from cartographer.model.location import language_of
from cartographer.scan.depth import with_bodies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DECODER = msgspec.msgpack.Decoder(FileFacts)
_ENCODER = msgspec.msgpack.Encoder()
# What facts are made by.
MAKERS = ("scan/*.py", "scan/queries/*.scm", "model/fact.py", "model/location.py", "patterns.py")
PARSERS = ("tree-sitter", "tree-sitter-cpp", "tree-sitter-python")
_SCHEMA = "CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, sum INTEGER NOT NULL, data BLOB NOT NULL)"


def encode(facts: FileFacts) -> bytes:
    """Facts as compressed bytes, for the cache and for other processes."""
    return zlib.compress(_ENCODER.encode(facts), 1)


def decode(data: bytes) -> FileFacts:
    """The facts in bytes that `encode` made. Raises ValueError when they are damaged."""
    try:
        return _DECODER.decode(zlib.decompress(data))
    except (zlib.error, msgspec.MsgspecError) as error:
        raise ValueError(str(error)) from error


@cache
def scanner_version() -> str:
    """A digest of the scanner's own source, the fact model and the parsers: facts that another scanner made are never used."""
    return sources_digest(*MAKERS, packages=PARSERS)[:16]


class FactCache:
    """A SQLite file of encoded facts; with `None` as path nothing is kept. Several builds may use it at once."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        if path is not None:
            self._connection = self._open(path)

    def _open(self, path: Path) -> sqlite3.Connection | None:
        """Open for writing; a damaged file is set aside first; where writing is impossible, open for reading."""
        for _ in range(2):
            connection = None
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute(_SCHEMA)
            except (sqlite3.OperationalError, OSError):
                if connection is not None:
                    connection.close()
                return _for_reading(path)
            except sqlite3.DatabaseError:
                if connection is not None:
                    connection.close()
                _set_aside(path)
            else:
                return connection
        return None

    @property
    def usable(self) -> bool:
        """Whether the cache can keep anything: it has a file that can be written."""
        return self._connection is not None

    def load(self, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """The pairs (key, encoded facts) of those keys that are kept and whole, in no particular order."""
        if self._connection is None:
            return
        wanted = list(keys)
        for begin in range(0, len(wanted), 500):
            part = wanted[begin : begin + 500]
            marks = ",".join("?" * len(part))
            try:
                rows = self._connection.execute(f"SELECT key, sum, data FROM facts WHERE key IN ({marks})", part).fetchall()  # noqa: S608
            except sqlite3.OperationalError:
                return
            except sqlite3.DatabaseError:
                self._start_anew()
                return
            for key, checksum, data in rows:
                if isinstance(data, bytes) and zlib.crc32(data) == checksum:
                    yield key, data

    def keep(self, entries: Iterable[tuple[str, bytes]]) -> None:
        """Add or replace entries, all of them or none."""
        if self._connection is None:
            return
        rows = [(key, zlib.crc32(data), data) for key, data in entries]
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", rows)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            if not isinstance(error, sqlite3.OperationalError):
                self._start_anew()

    def _start_anew(self) -> None:
        """Set a damaged file aside and begin an empty one."""
        self.close()
        if self.path is not None:
            _set_aside(self.path)
            self._connection = self._open(self.path)

    def close(self) -> None:
        """Close the file of the cache."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None


def _for_reading(path: Path) -> sqlite3.Connection | None:
    """A cache that cannot be written may still be read."""
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        connection.execute("SELECT count(*) FROM (SELECT 1 FROM facts LIMIT 1)")
    except (sqlite3.Error, OSError, ValueError):
        return None
    return connection


def _set_aside(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        with contextlib.suppress(OSError):
            Path(f"{path}{ending}").replace(f"{path}{ending}.damaged")


def key_of(path: str, blob: str) -> str:
    """The key of a file in the cache: content, language (a .h scanned as C++ is not the same text scanned as CUDA), depth, scanner."""
    return f"{blob}:{language_of(path).value}:{'bodies' if with_bodies(path) else 'outline'}:{scanner_version()}"
