# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: S608 - statements are put together from our own table names and question marks, never from texts
"""Reads the files and symbols of an atlas."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cartographer.errors import NotFound
from cartographer.model.atlas import FileEntry
from cartographer.store import database, residents
from cartographer.store.dates import Dates, unpacked_id
from cartographer.store.lists import Lists
from cartographer.store.symbol_rows import IN_FILE, Symbols
from cartographer.store.values import FileWhole

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from pathlib import Path

    from cartographer.model.atlas import Symbol
    from cartographer.store.operator_reader import OperatorReader
    from cartographer.store.values import Resident


class Files:
    """Answers questions about files and what is in them, from one atlas."""

    def __init__(self, connection: sqlite3.Connection, path: Path, operators: OperatorReader) -> None:
        self._connection = connection
        self.path = path
        self._operators = operators
        self._symbol_reader = Symbols(connection)

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with database.explained(self.path):
            return self._connection.execute(statement, values).fetchall()

    def file(self, path: str) -> FileWhole:
        """Everything about one file. Raises NotFound."""
        entries = self._entries("WHERE p.path = ?", path)
        if not entries:
            raise NotFound(f"this atlas holds no file {path}", where=str(self.path))
        included_by = self._all("SELECT p.path, i.line FROM include i JOIN path p ON p.id = i.file"
                                " WHERE i.target = (SELECT id FROM path WHERE path = ?) ORDER BY p.path, i.line", path)  # fmt: skip
        dates = Dates(self._connection, self.path).file_dates(path)
        unresolved = Lists(self._connection, self.path, self._operators).unresolved_in(path)
        return FileWhole(entries[0], self.symbols_in(path), tuple((p, line) for p, line in included_by),
                         self.residents(path), dates, unresolved)  # fmt: skip

    def file_entries(self) -> tuple[FileEntry, ...]:
        """All files with their includes and notes, in the order they were read."""
        return self._entries("")

    def _entries(self, condition: str, *values: Any) -> tuple[FileEntry, ...]:
        rows = self._all("SELECT f.path, p.path, blob, size, language, lines, error_nodes, error_bytes, notes"
                         f" FROM file f JOIN path p ON p.id = f.path {condition} ORDER BY f.position", *values)  # fmt: skip
        includes: dict[int, list[tuple[str, int]]] = {}
        which = f"WHERE i.file = {rows[0][0]}" if len(rows) == 1 else ""
        for file, target, line in self._all(
            f"SELECT i.file, i.target, i.line FROM include i {which} ORDER BY i.file, i.position"
        ):
            includes.setdefault(file, []).append((self._operators.path(target), line))
        return tuple(FileEntry(path, unpacked_id(blob), size, language, lines, nodes, size_of_errors, tuple(includes.get(number, ())),
                               tuple(json.loads(notes)))
                     for number, path, blob, size, language, lines, nodes, size_of_errors, notes in rows)  # fmt: skip

    def residents(self, path: str) -> tuple[Resident, ...]:
        """The parts of operators that are in one file (declarations, kernels, registrations, …), sorted by line."""
        with database.explained(self.path):
            return residents.of_file(self._connection, path)

    def living(self, path: str) -> int:
        """The number of operator overloads that have a part in one file."""
        with database.explained(self.path):
            return residents.living(self._connection, path)

    def all_residents(self) -> Mapping[str, tuple[Resident, ...]]:
        """The parts of operators in every file that has some, by path: read in one pass, for whoever needs all of them."""
        with database.explained(self.path):
            return residents.of_all(self._connection)

    def symbols(self, kind: str | None = None) -> tuple[Symbol, ...]:
        """All symbols in the order they were found, or those of one kind."""
        return self._symbols("ORDER BY s.id") if kind is None else self._symbols("WHERE k.text = ? ORDER BY s.id", kind)

    def symbols_in(self, path: str) -> tuple[Symbol, ...]:
        """The symbols of one file, sorted by line."""
        found = self._symbols(f"{IN_FILE} ORDER BY s.id", path)
        return tuple(sorted(found, key=lambda s: (s.line, s.qualname)))

    def symbol_places(self, kinds: tuple[str, ...]) -> frozenset[tuple[str, int]]:
        """(path, line) of all symbols of these kinds."""
        marks = ",".join("?" * len(kinds))
        return frozenset(self._all("SELECT p.path, s.line FROM symbol s JOIN path p ON p.id = s.path"
                                   f" WHERE s.kind_word IN (SELECT id FROM word WHERE text IN ({marks}))", *kinds))  # fmt: skip

    def symbol_counts(self) -> Mapping[str, int]:
        """The number of symbols in each file, by path."""
        return dict(self._all("SELECT p.path, coalesce(sum(r.last - r.first + 1), 0) FROM file f JOIN path p ON p.id = f.path"
                              " LEFT JOIN symbol_run r ON r.path = f.path GROUP BY f.path"))

    def symbol_kinds(self) -> Mapping[str, int]:
        """The number of symbols of each kind."""
        return dict(self._all("SELECT w.text, count(*) FROM symbol s JOIN word w ON w.id = s.kind_word GROUP BY s.kind_word ORDER BY w.text"))

    def _symbols(self, condition: str, *values: Any) -> tuple[Symbol, ...]:
        with database.explained(self.path):
            return self._symbol_reader.select(condition, *values)
