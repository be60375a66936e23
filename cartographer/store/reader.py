# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: S608 - statements are put together from our own table names and question marks, never from texts
"""atlas.db in, frozen values out: one method for each page or question. Nothing here needs PyTorch's tree."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any, Self

from cartographer.errors import NotFound
from cartographer.model.atlas import Era, FileDates, FileEntry, GeneratedFile, Strata, Stub, Symbol, Unresolved
from cartographer.model.location import Location
from cartographer.model.operator import Origin
from cartographer.model.source import SourceInfo, SourceKind
from cartographer.store import database, oplist_rows, residents
from cartographer.store.lookup import Lookup
from cartographer.store.operator_reader import OperatorReader
from cartographer.store.search_reader import SearchReader
from cartographer.store.symbol_rows import SYMBOL, symbol_of
from cartographer.store.values import (
    AtlasInfo,
    Count,
    FileRow,
    FileWhole,
    FolderRow,
    KernelRow,
    OperatorRow,
    Resident,
    StubRow,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from types import TracebackType

    from cartographer.model.operator import Operator
    from cartographer.model.oplist import OperatorList


class Reader:
    """An open atlas. Use it in a `with`, or close it."""

    def __init__(self, path: Path) -> None:
        self.path = database.locate(path)
        self._connection = database.open_to_read(self.path)
        self._operators = OperatorReader(self._connection)
        self.lookup = Lookup(self._connection)
        self.search = SearchReader(self._connection, self.lookup)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with database.explained(self.path):
            return self._connection.execute(statement, values).fetchall()

    # The whole

    def info(self) -> AtlasInfo:
        """What the atlas is of, and its counts with their receipts."""
        meta = dict(self._all("SELECT key, value FROM meta"))
        source = SourceInfo(
            SourceKind(meta["kind"]), meta["version"], meta["tag"], meta["commit"], meta["described"], meta["web"]
        )
        counts = tuple(Count(*row) for row in self._all("SELECT name, value, says, receipt FROM count ORDER BY name"))
        return AtlasInfo(source, meta["tool_version"], database.SCHEMA_VERSION, counts, json.loads(meta["seconds"]),
                         meta["strata_level"], meta["strata_reason"])  # fmt: skip

    # Operators

    def operator_rows(self) -> tuple[OperatorRow, ...]:
        """All overloads as rows of a list, sorted by name."""
        python = _gathered(
            self._all("SELECT operator, python FROM binding WHERE NOT deprecated ORDER BY operator, position")
        )
        keys = _gathered(self._all("SELECT operator, key FROM registration WHERE active ORDER BY operator, position"))
        structured = _gathered(
            self._all("SELECT operator, key FROM registration WHERE active AND origin = 'structured'")
        )
        nodes = _gathered(self._all("SELECT operator, name FROM node ORDER BY operator, position"))
        statuses: dict[int, dict[str, str]] = {}
        for number, backend, status in self._all(
            "SELECT o.operator, o.backend, c.status FROM operator_chain o JOIN chain c ON c.id = o.chain ORDER BY o.operator, o.position"
        ):
            statuses.setdefault(number, {})[backend] = status
        rows = self._all(
            "SELECT id, name, namespace, base, overload, schema, origin, path, line, end_line, build, tags, dispatch FROM operator ORDER BY id"
        )
        return tuple(
            OperatorRow(
                id=number, name=name, namespace=namespace, base=base, overload=overload, schema=schema, origin=Origin(origin),
                declared=Location(self._operators.path(path), line, end_line), build=tuple(json.loads(build)), tags=tuple(json.loads(tags)),
                python=tuple(dict.fromkeys(python.get(number, ()))), keys=tuple(dict.fromkeys(keys.get(number, ()))),
                structured_keys=frozenset(structured.get(number, ())), dispatch=self._operators.table(dispatch),
                statuses=statuses.get(number, {}), nodes=tuple(nodes.get(number, ())),
            )
            for number, name, namespace, base, overload, schema, origin, path, line, end_line, build, tags, dispatch in rows
        )  # fmt: skip

    def operators(self) -> Iterator[Operator]:
        """All operators whole, sorted by name, one at a time."""
        for (number,) in self._all("SELECT id FROM operator ORDER BY id"):
            with database.explained(self.path):
                operator = self._operators.operator(number)
            yield operator

    def operator(self, name: str) -> Operator:
        """The overload with this full name (`aten::add.Tensor`). Raises NotFound."""
        rows = self._all("SELECT id FROM operator WHERE name = ?", name)
        if not rows:
            raise NotFound(f"no operator is called {name}", where=str(self.path))
        return self._operators.operator(rows[0][0])

    def group(self, base: str, namespace: str = "aten") -> tuple[Operator, ...]:
        """All overloads of one base name (in-place underscore is part of it), sorted by name."""
        rows = self._all("SELECT id FROM operator WHERE base = ? AND namespace = ? ORDER BY id", base, namespace)
        return tuple(self._operators.operator(number) for (number,) in rows)

    def groups(self) -> tuple[tuple[str, str, int], ...]:
        """(namespace, base, number of overloads) of all operators, sorted."""
        return tuple(
            self._all(
                "SELECT namespace, base, count(*) FROM operator GROUP BY namespace, base ORDER BY namespace, base"
            )
        )

    def oplist(self) -> OperatorList | None:
        """The operator list as the yaml files declare it: what two releases are compared by. None when none was stored."""
        ((told,),) = self._all("SELECT value FROM meta WHERE key = 'oplist'")
        return None if told is None else oplist_rows.list_of(told, self._all("SELECT name, row FROM oplist ORDER BY name"))

    # Files

    def files(self) -> tuple[FileRow, ...]:
        """All scanned files as rows of a list, sorted by path."""
        symbols = dict(self._all("SELECT path, count(*) FROM symbol GROUP BY path"))
        living = residents.counts(self._connection)
        dates = {
            path: (born, changed) for path, born, changed in self._all("SELECT path, born, changed FROM file_dates")
        }
        rows = self._all(
            "SELECT f.path, p.path, size, language, lines, error_nodes, error_bytes FROM file f JOIN path p ON p.id = f.path ORDER BY p.path"
        )
        return tuple(FileRow(path, size, language, lines, nodes, size_of_errors, symbols.get(number, 0), living.get(number, 0),
                             *dates.get(number, (None, None)))
                     for number, path, size, language, lines, nodes, size_of_errors in rows)  # fmt: skip

    def folders(self) -> tuple[FolderRow, ...]:
        """All folders that hold scanned files, the root ("") first, sorted by path."""
        return folders_of(self.files())

    def file(self, path: str) -> FileWhole:
        """Everything about one file. Raises NotFound."""
        entries = self._entries("WHERE p.path = ?", path)
        if not entries:
            raise NotFound(f"this atlas holds no file {path}", where=str(self.path))
        included_by = self._all("SELECT p.path, i.line FROM include i JOIN path p ON p.id = i.file"
                                " WHERE i.target = (SELECT id FROM path WHERE path = ?) ORDER BY p.path, i.line", path)  # fmt: skip
        dates = self.file_dates(path)
        unresolved = tuple(u for u in self._unresolved("WHERE u.path = (SELECT id FROM path WHERE path = ?)", path))
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
        """What of which operators stands in one file, sorted by line."""
        with database.explained(self.path):
            return residents.of_file(self._connection, path)

    def all_residents(self) -> Mapping[str, tuple[Resident, ...]]:
        """Residents of every file that has some, by path: one pass, for whoever needs all of them."""
        with database.explained(self.path):
            return residents.of_all(self._connection)

    # Symbols, kernels, stubs, generated files

    def symbols(self, kind: str | None = None) -> Iterator[Symbol]:
        """All symbols in the order they were found, or those of one kind."""
        return self._symbols("", ()) if kind is None else self._symbols("WHERE s.kind = ?", (kind,))

    def symbols_in(self, path: str) -> tuple[Symbol, ...]:
        """The symbols of one file, sorted by line."""
        found = self._symbols("WHERE s.path = (SELECT id FROM path WHERE path = ?)", (path,))
        return tuple(sorted(found, key=lambda s: (s.line, s.qualname)))

    def symbol_kinds(self) -> Mapping[str, int]:
        """How many symbols there are of each kind."""
        return dict(self._all("SELECT kind, count(*) FROM symbol GROUP BY kind ORDER BY kind"))

    def _symbols(self, condition: str, values: tuple[Any, ...]) -> Iterator[Symbol]:
        rows = self._all(f"{SYMBOL} {condition} ORDER BY s.id", *values)
        return (symbol_of(row) for row in rows)

    def kernels(self, roles: tuple[str, ...] = ("entry", "kernel", "device")) -> tuple[KernelRow, ...]:
        """All places of these roles with the operators that reach them, sorted by symbol: the way back of the chains."""
        marks = ",".join("?" * len(roles))
        found: dict[tuple[str, str, int, str], tuple[set[str], set[str]]] = {}
        for role, symbol, path, line, backend, name in self._all(
            "SELECT s.role, s.symbol, p.path, s.line, oc.backend, o.name FROM step s JOIN path p ON p.id = s.path"
            " JOIN chain_step cs ON cs.step = s.id JOIN operator_chain oc ON oc.chain = cs.chain JOIN operator o ON o.id = oc.operator"
            f" WHERE s.role IN ({marks})", *roles):  # fmt: skip
            backends, names = found.setdefault((symbol, path, line, role), (set(), set()))
            backends.add(backend)
            names.add(name)
        return tuple(KernelRow(place[3], place[0], place[1], place[2], tuple(sorted(backends)), tuple(sorted(names)))
                     for place, (backends, names) in sorted(found.items()))  # fmt: skip

    def stubs(self) -> tuple[StubRow, ...]:
        """All dispatch stubs with the operators whose chains pass them, in the order they were found."""
        users: dict[str, set[str]] = {}
        for symbol, name in self._all(
            "SELECT DISTINCT s.plain, o.name FROM step s JOIN chain_step cs ON cs.step = s.id JOIN operator_chain oc ON oc.chain = cs.chain"
            " JOIN operator o ON o.id = oc.operator WHERE s.role = 'stub'"
        ):
            users.setdefault(symbol, set()).add(name)
        registered: dict[int, list[tuple[str, str, str, int]]] = {}
        for stub, device, kernel, path, line in self._all(
            "SELECT stub, device, kernel, path, line FROM stub_registration ORDER BY stub, position"
        ):
            registered.setdefault(stub, []).append((device, kernel, self._operators.path(path), line))
        return tuple(
            StubRow(
                Stub(name, self._places(declared), self._places(defined), tuple(registered.get(number, ()))),
                tuple(sorted(users.get(last, ()))),
            )
            for number, name, last, declared, defined in self._all(
                "SELECT id, name, plain, declared, defined FROM stub ORDER BY id"
            )
        )

    def _places(self, text: str) -> tuple[tuple[str, int], ...]:
        return tuple((self._operators.path(path), line) for path, line in json.loads(text))

    def generated(self) -> tuple[GeneratedFile, ...]:
        """Files that the build writes."""
        rows = self._all(
            "SELECT name, generator_path, generator_line, template, shards, holds FROM generated_file ORDER BY id"
        )
        return tuple(GeneratedFile(name, self._operators.path(path), *facts) for name, path, *facts in rows)

    def unresolved(self) -> tuple[Unresolved, ...]:
        """Everything that could not be told, with the reasons."""
        return self._unresolved("")

    def _unresolved(self, condition: str, *values: Any) -> tuple[Unresolved, ...]:
        rows = self._all("SELECT u.stage, u.subject, w.text, coalesce(p.path, ''), u.line FROM unresolved u"
                         f" JOIN word w ON w.id = u.reason_word LEFT JOIN path p ON p.id = u.path {condition} ORDER BY u.id", *values)  # fmt: skip
        return tuple(Unresolved(*row) for row in rows)

    # Strata

    def strata(self) -> Strata:
        """All dates: eras, commits, and the runs of every dated file. Some tens of megabytes for a whole history."""
        meta = dict(self._all("SELECT key, value FROM meta WHERE key IN ('strata_level', 'strata_reason')"))
        commits = tuple(
            (unpacked_id(commit), date)
            for commit, date in self._all("SELECT commit_id, date FROM dated_commit ORDER BY id")
        )
        rows = self._all(
            "SELECT p.path, born, changed, former_names, runs FROM file_dates d JOIN path p ON p.id = d.path ORDER BY p.path"
        )
        return Strata(
            meta["strata_level"], meta["strata_reason"], commits, {row[0]: _dates(row) for row in rows}, self.eras()
        )

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
    """A git id as text."""
    return stored.hex() if isinstance(stored, bytes) else stored


def _dates(row: tuple[Any, ...]) -> FileDates:
    path, born, changed, former, runs = row
    flat = json.loads(zlib.decompress(runs))
    return FileDates(path, born, changed, tuple(json.loads(former)), tuple(zip(flat[::2], flat[1::2], strict=True)))


def _gathered(rows: list[tuple[Any, ...]]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for number, text in rows:
        found.setdefault(number, []).append(text)
    return found


def folders_of(files: tuple[FileRow, ...]) -> tuple[FolderRow, ...]:
    """The folders of these files, each with the sums over everything below it."""
    direct: dict[str, list[FileRow]] = {"": []}
    children: dict[str, set[str]] = {"": set()}
    sums: dict[str, list[int]] = {"": [0] * 6}
    for file in files:
        folder = file.path.rpartition("/")[0]
        direct.setdefault(folder, []).append(file)
        while True:
            total = sums.setdefault(folder, [0] * 6)
            for place, value in enumerate((1, file.lines, file.size, file.symbols, file.error_nodes, file.error_bytes)):
                total[place] += value
            if not folder:
                break
            parent = folder.rpartition("/")[0]
            children.setdefault(parent, set()).add(folder)
            folder = parent
    return tuple(FolderRow(folder, tuple(sorted(children.get(folder, ()))), tuple(direct.get(folder, ())), *sums[folder])
                 for folder in sorted(sums))  # fmt: skip
