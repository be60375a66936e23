# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import re
import sqlite3

import pytest

from cartographer.errors import StoreError
from cartographer.store import database
from cartographer.store.reader import Reader


def _stamped(path, version, application=database.APPLICATION_ID):
    connection = database.create(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute(f"PRAGMA application_id = {application}")
    connection.close()


@pytest.mark.parametrize(
    ("version", "application", "message"),
    [
        (database.SCHEMA_VERSION - 1 or 99, database.APPLICATION_ID, "schema"),
        (database.SCHEMA_VERSION + 1, database.APPLICATION_ID, "newer cartographer"),
        (0, database.APPLICATION_ID, "not written to its end"),
        (database.SCHEMA_VERSION, 7, "not an atlas"),
    ],
)
def test_foreign_versions_are_named(tmp_path, version, application, message):
    _stamped(tmp_path / "atlas.db", version, application)
    with pytest.raises(StoreError, match=message) as caught:
        Reader(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert caught.value.hint


def test_older_schema_says_build_again(tmp_path, monkeypatch):
    _stamped(tmp_path / "atlas.db", database.SCHEMA_VERSION)
    monkeypatch.setattr(database, "SCHEMA_VERSION", database.SCHEMA_VERSION + 1)
    with pytest.raises(StoreError, match="build the atlas again"):
        Reader(tmp_path)


def test_missing(tmp_path):
    with pytest.raises(StoreError, match=r"no atlas\.db in this folder"):
        Reader(tmp_path)
    with pytest.raises(StoreError, match="there is no such atlas"):
        Reader(tmp_path / "nowhere")


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be looked at" * 100, b""])
def test_not_a_database(tmp_path, content):
    (tmp_path / "atlas.db").write_bytes(content)
    with pytest.raises(StoreError):
        Reader(tmp_path)


def test_damaged_in_the_middle(folder, tmp_path):
    whole = bytearray((folder / "atlas.db").read_bytes())
    for page in range(1, len(whole) // 8192):  # every page but the first: its head says what kind of page it is
        whole[page * 8192 : page * 8192 + 64] = b"\xff" * 64
    (tmp_path / "atlas.db").write_bytes(whole)
    with Reader(tmp_path) as reader, pytest.raises(StoreError, match="damaged"):
        list(reader.operators())


def test_reading_cannot_write(folder):
    connection = database.open_to_read(folder)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM operator")
    connection.close()


def test_indices_are_made_when_all_rows_are_in(folder, tmp_path):
    def indices(connection):
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")}

    connection = database.create(tmp_path / "atlas.db")
    assert indices(connection) == set()
    database.finish(connection)
    connection = database.open_to_read(folder)
    assert indices(connection) == set(re.findall(r"^CREATE INDEX (\w+)", database.schema(), re.MULTILINE)) != set()
    connection.close()


def test_every_table_and_column_is_explained():
    """Each table has a comment above it; columns without a comment are the few that their name explains."""
    text = database.schema()
    for table in re.findall(r"^CREATE (?:VIRTUAL )?TABLE (\w+)", text, re.MULTILINE):
        above = text[: text.index(f"TABLE {table} ")].rstrip().splitlines()[-2:]
        assert any(line.startswith("--") for line in above), table
    head = text[: text.index("CREATE")]
    assert re.search(rf"^--   {database.SCHEMA_VERSION}  ", head, re.MULTILINE), "say what this version changed"


@pytest.mark.parametrize("name", ["a b", "100%", "what?", "#1", "ä", "x%3fy"])
def test_any_folder_name(folder, tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "atlas.db").write_bytes((folder / "atlas.db").read_bytes())
    with Reader(tmp_path / name) as reader:
        assert reader.info().source.version == "2.6.0"
