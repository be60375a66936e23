# SPDX-License-Identifier: BSD-3-Clause
"""Reads the dates of an atlas: eras, commits, and the lines of files."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from cartographer.model.atlas import Era, FileDates, Import, Strata
from cartographer.store import database

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


class Dates:
    """Answers questions about dates from one atlas."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with database.explained(self.path):
            return self._connection.execute(statement, values).fetchall()

    def strata(self) -> Strata:
        """All dates: eras, commits, and the runs of every dated file. Some tens of megabytes for a whole history."""
        meta = dict(self._all("SELECT key, value FROM meta WHERE key LIKE 'strata%'"))
        commits = self._all("SELECT commit_id, date, boundary, first_release FROM dated_commit ORDER BY id")
        rows = self._all("SELECT p.path, born, changed, former_names, runs FROM file_dates d JOIN path p ON p.id = d.path ORDER BY p.path")
        return Strata(
            level=meta["strata_level"], reason=meta["strata_reason"], commits=tuple((unpacked_id(commit), date) for commit, date, *_ in commits),
            files={row[0]: _dates(row) for row in rows}, eras=self.eras(),
            boundary=tuple(number for number, (_, _, boundary, _) in enumerate(commits) if boundary),
            releases=self.releases(), first_release=tuple(first for *_, first in commits if first is not None), imports=self.imports(),
            vendored=tuple(json.loads(meta["strata_vendored"])),
        )  # fmt: skip

    def releases(self) -> tuple[str, ...]:
        """The tags of releases, in the order of versions."""
        return tuple(tag for (tag,) in self._all("SELECT tag FROM release ORDER BY id"))

    def imports(self) -> tuple[Import, ...]:
        """The commits that brought a foreign tree or history."""
        rows = self._all("SELECT commit_id, date, kind, folder, files, lines, surviving, subject, reason, vendored FROM import ORDER BY id")
        return tuple(Import(commit, date, kind, folder, files, lines, surviving, subject, reason, bool(vendored))
                     for commit, date, kind, folder, files, lines, surviving, subject, reason, vendored in rows)  # fmt: skip

    def eras(self) -> tuple[Era, ...]:
        """The named spans of the history, oldest first."""
        rows = self._all("SELECT name, first, last, evidence FROM era ORDER BY id")
        return tuple(
            Era(name, first, last, tuple(tuple(e) for e in json.loads(evidence)))
            for name, first, last, evidence in rows
        )

    def file_dates(self, path: str) -> FileDates | None:
        """The dates of one file and of its lines; None when it is not dated."""
        rows = self._all(
            "SELECT p.path, born, changed, former_names, runs FROM file_dates d JOIN path p ON p.id = d.path WHERE p.path = ?",
            path,
        )
        return _dates(rows[0]) if rows else None


def unpacked_id(stored: bytes | str) -> str:
    """A git object id as hex text: the database keeps it as bytes (see `writer.packed_id`)."""
    return stored.hex() if isinstance(stored, bytes) else stored


def _dates(row: tuple[Any, ...]) -> FileDates:
    path, born, changed, former, runs = row
    flat = json.loads(zlib.decompress(runs))
    return FileDates(path, born, changed, tuple(json.loads(former)), tuple(zip(flat[::2], flat[1::2], strict=True)))
