# SPDX-License-Identifier: BSD-3-Clause
"""Writes symbols as rows and reads them. Signatures, which only a symbol that is shown in full needs, are packed many together."""

from __future__ import annotations

import json
import zlib
from itertools import groupby
from typing import TYPE_CHECKING, Any

from cartographer.store.ledger import as_json, storable, texts_as_json

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from cartographer.model.atlas import Symbol
    from cartographer.store.ledger import Ledger

BLOCK = 512  # symbols whose signatures are packed together

_SYMBOL = (
    "SELECT s.id, s.name, CASE WHEN s.suffix THEN q.text || s.name ELSE q.text END, k.text, p.path, s.line, s.end_line, c.text"
    " FROM symbol s JOIN word q ON q.id = s.scope_word JOIN path p ON p.id = s.path JOIN word k ON k.id = s.kind_word"
    " LEFT JOIN word c ON c.id = s.guards_word"
)
IN_FILE = "JOIN symbol_run r ON s.id BETWEEN r.first AND r.last AND r.path = (SELECT id FROM path WHERE path = ?)"  # for `select`


def rows(symbols: Sequence[Symbol], ledger: Ledger) -> Iterator[tuple[Any, ...]]:
    """The rows of the table `symbol`, one for each symbol."""
    word, path = ledger.words.of, ledger.paths.of
    for number, s in enumerate(symbols, 1):
        suffix = s.qualname.endswith(s.name)
        scope = s.qualname[: len(s.qualname) - len(s.name)] if suffix else s.qualname
        yield number, s.name, word(scope), suffix, word(s.kind), path(s.path), s.line, s.end_line, word(texts_as_json(s.guards)) if s.guards else None


def runs(symbols: Sequence[Symbol], ledger: Ledger) -> Iterator[tuple[int, int, int]]:
    """The rows of the table `symbol_run`: for each file the numbers of its first and last symbol."""
    last = 0
    for path, of_file in groupby(symbols, key=lambda symbol: symbol.path):
        first, last = last + 1, last + sum(1 for _ in of_file)
        yield ledger.paths.of(path), first, last


def signatures(symbols: Sequence[Symbol]) -> Iterator[tuple[int, bytes]]:
    """The rows of the table `signature`. Ids begin with 1, so that the first block is one short."""
    texts = ["", *(symbol.signature for symbol in symbols)]
    for start in range(0, len(texts), BLOCK):
        yield start // BLOCK, zlib.compress(storable(as_json(texts[start : start + BLOCK])).encode(), 3)


class Symbols:
    """Reads the symbols of one atlas from their rows."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._blocks: dict[int, list[str]] = {}

    def select(self, condition: str, *values: Any) -> tuple[Symbol, ...]:
        """The symbols that meet a condition: SQL that follows the names of the tables (symbol is `s`, its path `p`)."""
        from cartographer.model.atlas import Symbol  # here, since a search does without it and is to answer at once

        found = self._connection.execute(f"{_SYMBOL} {condition}", values).fetchall()
        return tuple(
            Symbol(name, qualname, kind, path, line, end_line, self._signature(number), tuple(json.loads(guards)) if guards else ())
            for number, name, qualname, kind, path, line, end_line, guards in found
        )

    def place(self, number: int) -> tuple[str, str, str, int]:
        """The qualified name, kind, path and line of one symbol."""
        ((_, _, qualname, kind, path, line, _, _),) = self._connection.execute(f"{_SYMBOL} WHERE s.id = ?", (number,))
        return qualname, kind, path, line

    def _signature(self, number: int) -> str:
        block, place = divmod(number, BLOCK)
        if block not in self._blocks:
            ((texts,),) = self._connection.execute("SELECT texts FROM signature WHERE block = ?", (block,))
            self._blocks[block] = json.loads(zlib.decompress(texts))
        return self._blocks[block][place]
