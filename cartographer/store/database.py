# SPDX-License-Identifier: BSD-3-Clause
"""Opens and creates the SQLite file itself: connections, pragmas, version check. Knows no table."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cartographer.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

APPLICATION_ID = 0x41544C53  # "ATLS": tells an atlas from other SQLite files
SCHEMA_VERSION = 3
FILE_NAME = "atlas.db"

_BUILD = "build one with `cartographer build VERSION`"
_BUILD_AGAIN = "build the atlas again with `cartographer build`"
_CAUSES = {
    "SQLITE_FULL": ("the disk is full", "free some space; an atlas that was there before is untouched"),
    "SQLITE_IOERR": ("the disk cannot be read or written", "check its space and its health; an atlas that was there before is untouched"),
    "SQLITE_CANTOPEN": ("cannot open the file", "check that you may read and write here; --out names another folder"),
    "SQLITE_READONLY": ("cannot write here", "name another folder with --out"),
    "SQLITE_PERM": ("no permission", "check that you may read and write here"),
}  # fmt: skip


_INDICES = "\n-- Indices."


def schema() -> str:
    """The statements that make an empty atlas: its tables, then their indices."""
    return (Path(__file__).parent / "schema.sql").read_text(encoding="utf-8")


def locate(path: Path) -> Path:
    """The database that `path` names: the file itself, or the atlas.db in that folder. Raises StoreError."""
    if path.is_dir():
        found = path / FILE_NAME
        if not found.is_file():
            if held := held_by(path):
                raise StoreError("a folder of several atlases", where=str(path), hint=f"name one of them: {', '.join(held)}")
            raise StoreError(f"no {FILE_NAME} in this folder", where=str(path), hint=_BUILD)
        return found
    if not path.exists():
        raise StoreError("there is no such atlas", where=str(path), hint=_BUILD)
    return path


def held_by(folder: Path) -> tuple[str, ...]:
    """The atlases that are side by side in a folder, each under its tag."""
    return tuple(str(found.parent) for found in sorted(folder.glob(f"[!.]*/{FILE_NAME}")))


def open_to_read(path: Path) -> sqlite3.Connection:
    """A connection that cannot write. A finished atlas never changes (a rebuild swaps the file), so no locks are needed."""
    path = locate(path)
    with explained(path):
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
    try:
        with explained(path):
            connection.execute("PRAGMA mmap_size = 268435456")
            _check(connection, path)
    except StoreError:
        connection.close()
        raise
    return connection


def create(path: Path) -> sqlite3.Connection:
    """An empty atlas at `path`, set up for one fast bulk write: no journal, because only a finished file is kept."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for pragma in ("page_size = 8192", "journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE",
                       "cache_size = -65536", "temp_store = MEMORY", f"application_id = {APPLICATION_ID}"):  # fmt: skip
            connection.execute(f"PRAGMA {pragma}")
        connection.executescript(schema().partition(_INDICES)[0])
    except BaseException:
        connection.close()
        raise
    return connection


def set_whole(path: Path, name: str, data: bytes | None) -> None:
    """Change one row of the table `whole` in an atlas that is not in its final place yet."""
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA journal_mode = OFF")
        with connection:
            connection.execute("INSERT OR REPLACE INTO whole VALUES (?, ?)", (name, data))
    finally:
        connection.close()


def finish(connection: sqlite3.Connection) -> None:
    """Make the indices of an atlas whose rows are all in, and stamp the schema's number: a file without it was not written to its end."""
    _, head, statements = schema().partition(_INDICES)
    connection.executescript(head + statements)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.close()


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the disk into a StoreError that names the file and the next step."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise StoreError(
            f"this atlas contradicts itself: {error}",
            where=str(path),
            hint="this is a fault of cartographer: please report it",
        ) from error
    except sqlite3.DatabaseError as error:
        message, hint = _CAUSES.get(_cause(error), ("the atlas is damaged", _BUILD_AGAIN))
        raise StoreError(f"{message} ({error})", where=str(path), hint=hint) from error
    except OSError as error:
        raise StoreError(error.strerror or str(error), where=error.filename or str(path),
                         hint="choose a place that you may write to with --out") from error  # fmt: skip


def _cause(error: sqlite3.DatabaseError) -> str:
    """The first two words of SQLite's own name: SQLITE_IOERR of SQLITE_IOERR_WRITE."""
    return "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2])


def is_running(process: str) -> bool:
    """Whether a process of that number is running: a build puts its number into the names of the files that it is writing."""
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError):
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        what = "this is a database, but not an atlas" if path.stat().st_size else "this file is empty"  # which SQLite takes for a new database
        raise StoreError(what, where=str(path), hint=_BUILD)
    if version == 0:
        raise StoreError("this atlas was not written to its end", where=str(path), hint=_BUILD_AGAIN)
    if version < SCHEMA_VERSION:
        raise StoreError(f"this atlas has schema {version}, this cartographer reads {SCHEMA_VERSION}",
                         where=str(path), hint=_BUILD_AGAIN)  # fmt: skip
    if version > SCHEMA_VERSION:
        raise StoreError(f"this atlas has schema {version}, this cartographer reads {SCHEMA_VERSION}",
                         where=str(path), hint="it was made by a newer cartographer: update yours")  # fmt: skip
