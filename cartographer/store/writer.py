# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: S608 - statements are put together from our own table names and question marks, never from texts
"""Writes atlas.db: beside its place first, then swapped in, so that an existing atlas stays whole until the new one is."""

from __future__ import annotations

import gc
import os
import shutil
import zlib
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from cartographer.store import (
    compared,
    database,
    lineage_rows,
    operator_rows,
    oplist_rows,
    search_index,
    since_rows,
    symbol_rows,
)
from cartographer.store.counts import COUNTS
from cartographer.store.ledger import Ledger, as_json
from cartographer.store.search_words import plain

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from cartographer.model.atlas import Atlas, Strata, Symbol
    from cartographer.model.change import Comparison
    from cartographer.model.lineage import Lineage


def write(atlas: Atlas, folder: Path) -> Path:
    """Write `folder`/atlas.db and return its path. Raises StoreError; an older file there is then untouched."""
    with beside(atlas, folder) as fresh:
        return settle(fresh)


@contextmanager
def beside(atlas: Atlas, folder: Path) -> Iterator[Path]:
    """Write the atlas as a file beside `folder`/atlas.db, whole and readable, which the block may `settle` in place; else it is removed."""
    fresh = folder / f".{database.FILE_NAME}.{os.getpid()}.new"
    with database.explained(folder / database.FILE_NAME):
        folder.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(folder)
    try:
        with database.explained(folder / database.FILE_NAME):
            _fill(fresh, atlas)
            _to_disk(fresh)
        yield fresh
    finally:
        fresh.unlink(missing_ok=True)


@contextmanager
def with_lineage(folder: Path, lineage: Lineage, since: Comparison | None) -> Iterator[Path]:
    """A copy of the atlas in `folder` with what is known of other releases, beside it: `settle` puts it in place."""
    fresh = folder / f".{database.FILE_NAME}.{os.getpid()}.new"
    try:
        with database.explained(folder / database.FILE_NAME):
            _remove_leftovers(folder)
            shutil.copyfile(folder / database.FILE_NAME, fresh)
            database.set_whole(fresh, "lineage", lineage_rows.packed(lineage))
            database.set_whole(fresh, "since", since_rows.packed(since))
            _to_disk(fresh)
        yield fresh
    finally:
        fresh.unlink(missing_ok=True)


def settle(fresh: Path, folder: Path | None = None) -> Path:
    """Move a file of `beside` to the place of atlas.db; `folder` when the atlas shall be in another folder."""
    target = (folder or fresh.parent) / database.FILE_NAME
    with database.explained(target):
        return fresh.replace(target)


def check_writable(folder: Path) -> None:
    """Raise StoreError now when `folder` cannot take an atlas, rather than after a minute's work."""
    probe = folder / f".{database.FILE_NAME}.{os.getpid()}.new"
    with database.explained(folder / database.FILE_NAME):
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()


def _fill(path: Path, atlas: Atlas) -> None:
    path.unlink(missing_ok=True)
    connection = database.create(path)
    collecting = gc.isenabled()
    gc.disable()  # a million short-lived tuples and no cycles: the collector would only look at them again and again
    try:
        connection.execute("BEGIN")
        ledger = Ledger()
        _meta(connection, atlas)
        operator_rows.write(connection, atlas.operators, ledger)
        _whole(connection, atlas)
        _files(connection, atlas, ledger)
        _symbols(connection, atlas.symbols, ledger)
        _stubs(connection, atlas, ledger)
        _rest(connection, atlas, ledger)
        _strata(connection, atlas.strata, ledger)
        _many(connection, "path", 2, ledger.paths.rows())
        search_index.write(connection, atlas, ledger)
        _many(connection, "word", 2, ledger.words.rows())
        _counts(connection)
        connection.execute("COMMIT")
        database.finish(connection)
    except BaseException:
        connection.close()
        raise
    finally:
        if collecting:
            gc.enable()


def _many(connection: sqlite3.Connection, table: str, width: int, rows: Iterable[tuple[Any, ...]]) -> None:
    connection.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * width)})", rows)


def _meta(connection: sqlite3.Connection, atlas: Atlas) -> None:
    source = atlas.source
    facts = {
        "kind": source.kind.value, "version": source.version, "tag": source.tag, "commit": source.commit,
        "described": source.described, "web": source.web, "tool_version": atlas.tool_version,
        "seconds": as_json(dict(atlas.seconds)), "strata_level": atlas.strata.level, "strata_reason": atlas.strata.reason,
        "strata_vendored": as_json(atlas.strata.vendored), "oplist": oplist_rows.head(atlas.rows),
        "inputs": atlas.inputs,
    }  # fmt: skip
    _many(connection, "meta", 2, facts.items())


def packed_id(identifier: str) -> bytes | str:
    """A git object id as 20 bytes for the database; any other text as it is."""
    if len(identifier) == 40:
        with suppress(ValueError):
            packed = bytes.fromhex(identifier)
            if packed.hex() == identifier:
                return packed
    return identifier


def _whole(connection: sqlite3.Connection, atlas: Atlas) -> None:
    _many(connection, "whole", 2, (
        ("paths", zlib.compress("\n".join(atlas.paths).encode())), ("oplist", oplist_rows.packed(atlas.rows)),
        ("lineage", lineage_rows.packed(atlas.lineage)), ("since", since_rows.packed(atlas.since)),
        ("bodies", compared.packed_bodies(atlas.bodies)),
    ))  # fmt: skip


def _files(connection: sqlite3.Connection, atlas: Atlas, ledger: Ledger) -> None:
    number = ledger.paths.of
    _many(connection, "file", 9, (
        (number(f.path), position, packed_id(f.blob), f.size, f.language, f.lines, f.error_nodes, f.error_bytes, as_json(f.notes))
        for position, f in enumerate(atlas.files)))  # fmt: skip
    _many(connection, "include", 4, (
        (number(f.path), position, number(target), line)
        for f in atlas.files for position, (target, line) in enumerate(f.includes)))  # fmt: skip


def _symbols(connection: sqlite3.Connection, symbols: Sequence[Symbol], ledger: Ledger) -> None:
    _many(connection, "symbol", 9, symbol_rows.rows(symbols, ledger))
    _many(connection, "symbol_run", 3, symbol_rows.runs(symbols, ledger))
    _many(connection, "signature", 2, symbol_rows.signatures(symbols))


def _stubs(connection: sqlite3.Connection, atlas: Atlas, ledger: Ledger) -> None:
    path = ledger.paths.of

    def places(found: Iterable[tuple[str, int]]) -> str:
        return as_json([[path(p), line] for p, line in found])

    _many(connection, "stub", 5, ((number, s.name, plain(s.name), places(s.declared), places(s.defined))
                                  for number, s in enumerate(atlas.stubs, 1)))  # fmt: skip
    _many(connection, "stub_registration", 6, (
        (number, position, device, kernel, path(p), line)
        for number, s in enumerate(atlas.stubs, 1) for position, (device, kernel, p, line) in enumerate(s.registrations)))  # fmt: skip


def _rest(connection: sqlite3.Connection, atlas: Atlas, ledger: Ledger) -> None:
    path = ledger.paths.of
    _many(connection, "generated_file", 7, (
        (number, g.name, path(g.generator), g.generator_line, g.template, g.shards, g.holds)
        for number, g in enumerate(atlas.generated, 1)))  # fmt: skip
    _many(connection, "landmark", 6, (
        (number, m.subject, m.kind, path(m.path), m.line, m.text) for number, m in enumerate(atlas.landmarks, 1)))
    _many(connection, "unresolved", 6, (
        (number, u.stage, u.subject, ledger.words.of(u.reason), path(u.path) if u.path else None, u.line)
        for number, u in enumerate(atlas.unresolved, 1)))  # fmt: skip


def _strata(connection: sqlite3.Connection, strata: Strata, ledger: Ledger) -> None:
    _many(
        connection,
        "era",
        5,
        ((number, e.name, e.first, e.last, as_json(e.evidence)) for number, e in enumerate(strata.eras, 1)),
    )
    boundary, first = frozenset(strata.boundary), strata.first_release
    _many(connection, "dated_commit", 5, (
        (number, packed_id(c), date, number in boundary, first[number] if number < len(first) else None)
        for number, (c, date) in enumerate(strata.commits)))  # fmt: skip
    _many(connection, "release", 2, enumerate(strata.releases))
    _many(connection, "import", 11, (
        (number, i.commit, i.date, i.kind, i.folder, i.files, i.lines, i.surviving, i.subject, i.reason, i.vendored)
        for number, i in enumerate(strata.imports, 1)))  # fmt: skip
    _many(connection, "file_dates", 5, (
        (ledger.paths.of(name), d.born, d.changed, as_json(d.former_names), _packed_runs(d.runs))
        for name, d in strata.files.items()))  # fmt: skip


def _packed_runs(runs: Iterable[tuple[int, int]]) -> bytes:
    flat = ",".join(f"{lines},{commit}" for lines, commit in runs)
    return zlib.compress(f"[{flat}]".encode(), 6)


def _counts(connection: sqlite3.Connection) -> None:
    rows = []
    for name, says, statement in COUNTS:
        (value,) = connection.execute(statement).fetchone()
        rows.append((name, value, says, statement))
    _many(connection, "count", 4, rows)


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_leftovers(folder: Path) -> None:
    """Delete what builds that were killed have left; a running build's file bears the number of a living process."""
    for leftover in folder.glob(f".{database.FILE_NAME}.*.new"):
        number = leftover.name.split(".")[-2]
        if number != str(os.getpid()) and not database.is_running(number):
            leftover.unlink(missing_ok=True)
