# SPDX-License-Identifier: BSD-3-Clause
"""Fills the full-text index; `search_words` splits the names into words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.store.search_words import KINDS, words_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from cartographer.model.atlas import Atlas
    from cartographer.store.ledger import Ledger

SHIFT = 32


def write(connection: sqlite3.Connection, atlas: Atlas, ledger: Ledger) -> None:
    """Index everything in the atlas that has a name."""
    rows: list[tuple[int, str]] = []
    for kind, named in (
        ("operator", _operators(atlas, ledger)), ("python", _pythons(atlas, ledger)), ("binding", _functions(atlas, ledger)),
        ("node", _nodes(atlas, ledger)), ("kernel", ((n, symbol) for n, symbol in ledger.kernels.rows())),
        ("stub", ((n, s.name) for n, s in enumerate(atlas.stubs, 1))),
        ("file", ((ledger.paths.of(f.path), f.path) for f in atlas.files)),
        ("generated", ((n, g.name) for n, g in enumerate(atlas.generated, 1))),
        ("symbol", ((n, s.qualname) for n, s in enumerate(atlas.symbols, 1))),
    ):  # fmt: skip
        first = KINDS.index(kind) << SHIFT
        pairs = sorted(named)
        rows.extend(zip([first | number for number, _ in pairs], words_of([name for _, name in pairs]), strict=True))
    connection.executemany("INSERT INTO search (rowid, words) VALUES (?, ?)", rows)
    connection.execute("INSERT INTO search (search) VALUES ('optimize')")


def _operators(atlas: Atlas, ledger: Ledger) -> Iterator[tuple[int, str]]:
    return _distinct((f"{o.namespace}::{o.base}" for o in atlas.operators), ledger)


def _pythons(atlas: Atlas, ledger: Ledger) -> Iterator[tuple[int, str]]:
    return _distinct((b.python for o in atlas.operators for b in o.bindings), ledger)


def _functions(atlas: Atlas, ledger: Ledger) -> Iterator[tuple[int, str]]:
    return _distinct((b.function for o in atlas.operators for b in o.bindings), ledger)


def _nodes(atlas: Atlas, ledger: Ledger) -> Iterator[tuple[int, str]]:
    return _distinct((n for o in atlas.operators if o.autograd for n in o.autograd.nodes), ledger)


def _distinct(names: Iterable[str], ledger: Ledger) -> Iterator[tuple[int, str]]:
    return ((ledger.words.of(name), name) for name in sorted(set(names)))
