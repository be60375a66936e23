# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: S608 - statements are put together from our own table names and question marks, never from texts
"""Reads the lists of an atlas: its counts, all operators as rows, kernels and stubs with their operators, what is unresolved."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from cartographer.model.atlas import GeneratedFile, Landmark, Stub, Unresolved
from cartographer.model.location import Location
from cartographer.model.operator import Origin
from cartographer.model.source import SourceInfo, SourceKind
from cartographer.store import database
from cartographer.store.values import AtlasInfo, Count, KernelRow, OperatorRow, StubRow

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from cartographer.model.change import Comparison
    from cartographer.model.compared import ComparedAtlas
    from cartographer.model.lineage import Lineage
    from cartographer.model.oplist import OperatorList
    from cartographer.store.operator_reader import OperatorReader


class Lists:
    """Answers that are lists over a whole atlas."""

    def __init__(self, connection: sqlite3.Connection, path: Path, operators: OperatorReader) -> None:
        self._connection = connection
        self.path = path
        self._operators = operators

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with database.explained(self.path):
            return self._connection.execute(statement, values).fetchall()

    def _whole(self, name: str) -> bytes:
        ((data,),) = self._all("SELECT data FROM whole WHERE name = ?", name)
        assert isinstance(data, bytes)
        return data

    def info(self) -> AtlasInfo:
        """Which PyTorch the atlas is of, and its counts with their receipts."""
        meta = dict(self._all("SELECT key, value FROM meta"))
        source = SourceInfo(
            SourceKind(meta["kind"]), meta["version"], meta["tag"], meta["commit"], meta["described"], meta["web"]
        )
        counts = tuple(Count(*row) for row in self._all("SELECT name, value, says, receipt FROM count ORDER BY name"))
        return AtlasInfo(source, meta["tool_version"], database.SCHEMA_VERSION, counts, json.loads(meta["seconds"]),
                         meta["strata_level"], meta["strata_reason"], meta.get("inputs") or "")  # fmt: skip

    def operator_rows(self) -> tuple[OperatorRow, ...]:
        """All overloads as rows of a list, sorted by name."""
        python = _gathered(
            self._all("SELECT operator, python FROM binding WHERE NOT deprecated ORDER BY operator, position")
        )
        keys = _gathered(self._all("SELECT r.operator, w.text FROM registration r JOIN word w ON w.id = r.key_word WHERE active ORDER BY operator, position"))
        structured = _gathered(
            self._all("SELECT r.operator, w.text FROM registration r JOIN word w ON w.id = r.key_word WHERE active AND origin = 'structured'")
        )
        nodes = _gathered(self._all("SELECT operator, name FROM node ORDER BY operator, position"))
        statuses: dict[int, dict[str, str]] = {}
        for number, backend, status in self._all(
            "SELECT o.operator, w.text, c.status FROM operator_chain o JOIN chain c ON c.id = o.chain JOIN word w ON w.id = o.backend_word ORDER BY o.operator, o.position"
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

    def oplist(self) -> OperatorList | None:
        """The operator list as the yaml files declare it, by which two releases are compared. None when none was stored."""
        from cartographer.store import oplist_rows

        ((told,),) = self._all("SELECT value FROM meta WHERE key = 'oplist'")
        return None if told is None else oplist_rows.list_of(told, self._whole("oplist"))

    def compared(self) -> ComparedAtlas:
        """All that the comparison with another atlas needs, beyond the operator list."""
        from cartographer.store import compared

        with database.explained(self.path):
            return compared.compared(self._connection)

    def lineage(self) -> Lineage:
        """What happened to every operator over the releases that were at hand when the atlas was built."""
        from cartographer.store import lineage_rows

        return lineage_rows.unpacked(self._whole("lineage"))

    def since(self) -> Comparison | None:
        """What changed in the operators since the release before."""
        from cartographer.store import since_rows

        rows = self._all("SELECT data FROM whole WHERE name = 'since'")
        return since_rows.unpacked(rows[0][0] if rows else None, self.path)

    def kernels(self, roles: tuple[str, ...] = ("entry", "kernel", "device")) -> tuple[KernelRow, ...]:
        """All steps of chains with one of these roles, each with the operators that reach it, sorted by symbol."""
        marks = ",".join("?" * len(roles))
        found: dict[tuple[str, str, int, str], tuple[set[str], set[str]]] = {}
        for role, symbol, path, line, backend, name in self._all(
            "SELECT s.role, s.symbol, p.path, s.line, w.text, o.name FROM step s JOIN path p ON p.id = s.path"
            " JOIN chain_step cs ON cs.step = s.id JOIN operator_chain oc ON oc.chain = cs.chain JOIN operator o ON o.id = oc.operator"
            f" JOIN word w ON w.id = oc.backend_word WHERE s.role IN ({marks})", *roles):  # fmt: skip
            backends, names = found.setdefault((symbol, path, line, role), (set(), set()))
            backends.add(backend)
            names.add(name)
        return tuple(KernelRow(place[3], place[0], place[1], place[2], tuple(sorted(backends)), tuple(sorted(names)))
                     for place, (backends, names) in sorted(found.items()))  # fmt: skip

    def steps(self, roles: tuple[str, ...]) -> frozenset[tuple[str, str, int]]:
        """(symbol, path, line) of all steps with one of these roles: like `kernels`, but without the operators that reach them."""
        marks = ",".join("?" * len(roles))
        return frozenset(self._all(f"SELECT s.symbol, p.path, s.line FROM step s JOIN path p ON p.id = s.path WHERE s.role IN ({marks})", *roles))

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
        """The files that PyTorch's build writes, with their generators."""
        rows = self._all(
            "SELECT name, generator_path, generator_line, template, shards, holds FROM generated_file ORDER BY id"
        )
        return tuple(GeneratedFile(name, self._operators.path(path), *facts) for name, path, *facts in rows)

    def unresolved(self) -> tuple[Unresolved, ...]:
        """Everything that could not be told about this PyTorch, with the reasons."""
        return self._unresolved("")

    def paths(self) -> frozenset[str]:
        """The paths of all files of the tree, scanned or not."""
        return frozenset(zlib.decompress(self._whole("paths")).decode().split("\n")) - {""}

    def landmarks(self, subject: str | None = None) -> tuple[Landmark, ...]:
        """All landmarks, or those of one subject."""
        condition, values = ("", ()) if subject is None else ("WHERE m.subject = ?", (subject,))
        return tuple(Landmark(*row) for row in self._all(
            f"SELECT m.subject, m.kind, p.path, m.line, m.text FROM landmark m JOIN path p ON p.id = m.path {condition} ORDER BY m.id", *values))

    def unresolved_in(self, path: str) -> tuple[Unresolved, ...]:
        """Everything that could not be told in one file, with the reasons."""
        return self._unresolved("WHERE u.path = (SELECT id FROM path WHERE path = ?)", path)

    def _unresolved(self, condition: str, *values: Any) -> tuple[Unresolved, ...]:
        rows = self._all("SELECT u.stage, u.subject, w.text, coalesce(p.path, ''), u.line FROM unresolved u"
                         f" JOIN word w ON w.id = u.reason_word LEFT JOIN path p ON p.id = u.path {condition} ORDER BY u.id", *values)  # fmt: skip
        return tuple(Unresolved(*row) for row in rows)


def _gathered(rows: list[tuple[Any, ...]]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for number, text in rows:
        found.setdefault(number, []).append(text)
    return found
