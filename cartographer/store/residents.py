# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: S608 - statements are put together from our own table names and question marks, never from texts
"""Finds which parts of operators are in which file: declarations, bindings, registrations, kernels, formulas, helpers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.store.values import Resident

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

# Each part gives (path id, operator id, relation, line, symbol, backend or key, 0 where only another operator stands here).
_PARTS = (
    "SELECT path, id AS operator, 'declared' AS relation, line, '' AS symbol, '' AS backend, 1 AS direct FROM operator",
    "SELECT path, operator, 'binding', line, python, '', 1 FROM binding WHERE path IS NOT NULL",
    """SELECT r.path, r.operator, 'registration', r.line, coalesce(k.symbol, ''), w.text, 1 FROM registration r
    JOIN word w ON w.id = r.key_word LEFT JOIN kernel k ON k.id = r.kernel WHERE r.path IS NOT NULL""",
    """SELECT s.path, o.operator, s.role, s.line, s.symbol, w.text, c.direct FROM step s JOIN chain_step c ON c.step = s.id
    JOIN operator_chain o ON o.chain = c.chain JOIN word w ON w.id = o.backend_word""",
    "SELECT path, operator, 'formula', line, '', key, 1 FROM formula",
    "SELECT path, operator, 'helper', line, symbol, '', 1 FROM helper",
)
_ALL = " UNION ".join(_PARTS)


def _path_column(part: str) -> str:
    return part.removeprefix("SELECT ").partition(",")[0]


_IN_FILE = " UNION ".join(f"{part} {'AND' if ' WHERE ' in part else 'WHERE'} {_path_column(part)} = :file" for part in _PARTS)


def of_file(connection: sqlite3.Connection, path: str) -> tuple[Resident, ...]:
    """The parts of operators in one file, sorted by line."""
    rows = connection.execute(
        f"SELECT o.name, r.relation, r.line, r.symbol, r.backend, r.direct FROM ({_IN_FILE}) r JOIN operator o ON o.id = r.operator"
        " ORDER BY r.line, o.name, r.relation, r.backend",
        _file(connection, path),
    )
    return tuple(Resident(name, relation, line, symbol, backend, bool(direct)) for name, relation, line, symbol, backend, direct in rows)


def living(connection: sqlite3.Connection, path: str) -> int:
    """The number of operator overloads that have a part in one file."""
    ((count,),) = connection.execute(f"SELECT count(DISTINCT operator) FROM ({_IN_FILE.replace(' UNION ', ' UNION ALL ')})", _file(connection, path))
    assert isinstance(count, int)
    return count


def _file(connection: sqlite3.Connection, path: str) -> dict[str, int | None]:
    return {"file": (connection.execute("SELECT id FROM path WHERE path = ?", (path,)).fetchone() or (None,))[0]}


def of_all(connection: sqlite3.Connection) -> Mapping[str, tuple[Resident, ...]]:
    """The parts of operators in every file that has some, by path."""
    paths = dict(connection.execute("SELECT id, path FROM path"))
    names = dict(connection.execute("SELECT id, name FROM operator"))
    found: dict[str, list[Resident]] = {}
    for path, operator, relation, line, symbol, backend, direct in connection.execute(f"{_ALL} ORDER BY 1, 4, 2, 3, 6"):
        found.setdefault(paths[path], []).append(Resident(names[operator], relation, line, symbol, backend, bool(direct)))
    return {path: tuple(found[path]) for path in sorted(found)}
