# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: S608 - statements are put together from our own table names and question marks, never from texts
"""Queries the full-text index: first for names alone (to be ranked), then for the place and the operators of the few that are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cartographer.store import database
from cartographer.store.search_index import SHIFT
from cartographer.store.search_words import KINDS, plain, question
from cartographer.store.symbol_rows import Symbols
from cartographer.store.values import Hit, Match

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from cartographer.store.lookup import Lookup

_MASK = (1 << SHIFT) - 1
_WORD = ("word", "t.text")
# Where the name of each kind stands: table and expression.
_NAMES = {
    "operator": _WORD, "python": _WORD, "binding": _WORD, "node": _WORD, "kernel": ("kernel", "t.symbol"), "stub": ("stub", "t.name"),
    "file": ("path", "t.path"), "generated": ("generated_file", "t.name"),
    "symbol": ("symbol", "(SELECT w.text FROM word w WHERE w.id = t.scope_word) || CASE WHEN t.suffix THEN t.name ELSE '' END"),
}  # fmt: skip


class SearchReader:
    """The full-text index of one atlas, to be queried."""

    def __init__(self, connection: sqlite3.Connection, path: Path, lookup: Lookup) -> None:
        self._connection = connection
        self.path = path
        self._lookup = lookup

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with database.explained(self.path):
            return self._connection.execute(statement, values).fetchall()

    def matches(self, text: str, most: int = 2000, kinds: tuple[str, ...] = KINDS, *, any_word: bool = False) -> tuple[Match, ...]:
        """Names that contain all words of `text` (or any of them), kind by kind in the order of KINDS, at most `most` of each.

        Symbols with exactly this name are never cut off.
        """
        wanted = question(text, any_word=any_word)
        found: list[Match] = []
        for kind in KINDS if wanted else ():
            if kind in kinds:
                table, name = _NAMES[kind]
                first = KINDS.index(kind) << SHIFT
                found.extend(Match(kind, number, label) for number, label in self._all(
                    f"SELECT t.id, {name} FROM search s JOIN {table} t ON t.id = (s.rowid & {_MASK})"
                    " WHERE s.search MATCH ? AND s.rowid BETWEEN ? AND ? ORDER BY s.rowid LIMIT ?", wanted, first, first | _MASK, most))  # fmt: skip
        if wanted and "symbol" in kinds and (text := text.strip()).isidentifier():
            found.extend(Match("symbol", number, label) for number, label in self._all(
                f"SELECT t.id, {_NAMES['symbol'][1]} FROM symbol t WHERE t.name = ? ORDER BY t.id", text))  # fmt: skip
        return tuple(dict.fromkeys(found))

    def hit(self, match: Match) -> Hit:
        """A match with its place and its operators."""
        details = {"operator": self._operator, "python": self._python, "binding": self._binding, "node": self._node, "kernel": self._kernel,
                   "stub": self._stub, "file": self._file, "generated": self._generated, "symbol": self._symbol}  # fmt: skip
        return details[match.kind](match)

    def _operator(self, match: Match) -> Hit:
        namespace, _, base = match.label.partition("::")
        overloads = self._lookup.by_base(base, namespace)
        ((path, line),) = self._all(
            "SELECT p.path, o.line FROM operator o JOIN path p ON p.id = o.path WHERE o.name = ?", overloads[0]
        )
        return Hit(
            match.kind, match.label, f"{len(overloads)} overload{'s' * (len(overloads) > 1)}", path, line, overloads
        )

    def _python(self, match: Match) -> Hit:
        return Hit(match.kind, match.label, operators=self._lookup.by_python(match.label))

    def _binding(self, match: Match) -> Hit:
        files = self._all("SELECT DISTINCT file FROM binding WHERE function = ? ORDER BY file", match.label)
        return Hit(
            match.kind,
            match.label,
            ", ".join(file for (file,) in files),
            operators=self._lookup.by_binding(match.label),
        )

    def _node(self, match: Match) -> Hit:
        return Hit(match.kind, match.label, operators=self._lookup.by_node(match.label))

    def _kernel(self, match: Match) -> Hit:
        """The class of a structured kernel is written TORCH_IMPL_FUNC(name) in the source; others stand under their own symbol."""
        place = self._all("SELECT p.path, s.line FROM step s JOIN path p ON p.id = s.path WHERE s.plain = ? AND (s.symbol = ?"
                          " OR s.symbol LIKE 'TORCH_IMPL_FUNC%' OR s.symbol LIKE '%::impl') ORDER BY s.role <> 'entry', s.id LIMIT 1",
                          plain(match.label).removeprefix("structured_"), match.label)  # fmt: skip
        path, line = place[0] if place else ("", 0)
        return Hit(match.kind, match.label, "", path, line, self._lookup.by_kernel(match.label))

    def _stub(self, match: Match) -> Hit:
        rows = self._all("SELECT p.path, r.line FROM stub_registration r JOIN path p ON p.id = r.path WHERE r.stub = ? ORDER BY r.position LIMIT 1",
                         match.number)  # fmt: skip
        path, line = rows[0] if rows else ("", 0)
        return Hit(match.kind, match.label, "", path, line)

    def _file(self, match: Match) -> Hit:
        ((lines, language),) = self._all("SELECT lines, language FROM file WHERE path = ?", match.number)
        return Hit(match.kind, match.label, f"{language}, {lines} lines", match.label, 1)

    def _generated(self, match: Match) -> Hit:
        ((path, line, holds),) = self._all("SELECT p.path, g.generator_line, g.holds FROM generated_file g"
                                           " JOIN path p ON p.id = g.generator_path WHERE g.id = ?", match.number)  # fmt: skip
        return Hit(match.kind, match.label, holds, path, line)

    def _symbol(self, match: Match) -> Hit:
        with database.explained(self.path):
            qualname, kind, path, line = Symbols(self._connection).place(match.number)
        return Hit(match.kind, qualname, kind, path, line)
