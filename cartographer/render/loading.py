# SPDX-License-Identifier: BSD-3-Clause
"""Loads the catalog and the site, from which pages are drawn, from a reader of the store."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

from cartographer.guide import book
from cartographer.render.catalog import Catalog
from cartographer.render.site import Site
from cartographer.store.verified import kept

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from cartographer.model.atlas import Atlas, Symbol
    from cartographer.store.reader import Reader


_KEPT = frozenset(("info", "operators", "file_entries", "stubs", "generated", "eras", "symbols", "landmarks", "paths", "oplist", "group"))


class _Remembered:
    """A reader that answers what it was asked before from memory: the catalog and the guide want the same lists."""

    def __init__(self, reader: Reader, known: Mapping[str, Any]) -> None:
        """Stand before `reader`; the answers of `known`, to questions without arguments, are there already."""
        self._reader = reader
        self._known: dict[tuple[str, ...], Any] = {(name,): answer for name, answer in known.items()}

    def __getattr__(self, name: str) -> Any:
        """The methods of `_KEPT` are asked each question once; all others pass."""
        found = getattr(self._reader, name)
        if name not in _KEPT:
            return found

        def once(*asked: str) -> Any:
            question = (name, *asked)
            if question not in self._known:
                answer = found(*asked)
                self._known[question] = tuple(answer) if name in ("operators", "symbols") else answer
            return self._known[question]

        return once


def remembered(reader: Reader, written: Atlas | None = None) -> Reader:
    """A reader in front of `reader` that keeps its lists. What was just `written` to the atlas is not read again."""
    return cast("Reader", _Remembered(reader, _lists_of(written) if written is not None else {}))


def _lists_of(atlas: Atlas) -> Mapping[str, Any]:
    """The answers of a reader of this atlas that are whole lists, by the names of its methods."""
    return {
        "operators": atlas.operators, "symbols": atlas.symbols, "file_entries": atlas.files, "generated": atlas.generated, "landmarks": atlas.landmarks,
        "paths": frozenset(atlas.paths), "oplist": atlas.rows,
    }  # fmt: skip


def site_of(reader: Reader, folder: Path, *, collected: bool, written: Atlas | None = None) -> Site:
    """The site of the atlas behind `reader`, which is in `folder` or about to be; everything that its pages say is then in memory."""
    reader = remembered(reader, written)
    catalog = load(reader)
    said = kept(folder, catalog.info.inputs)
    return Site(catalog, book.read(reader), lineage=reader.lineage(), found=reader.since(), collected=collected, verified=said)


def load(reader: Reader) -> Catalog:
    """The catalog of the atlas behind `reader`."""
    info = reader.info()
    return Catalog(
        info,
        tuple(reader.operators()),
        reader.file_entries(),
        by_path(reader.symbols()),
        tuple(row.stub for row in reader.stubs()),
        reader.generated(),
        reader.unresolved(),
        reader.strata(),
        reader.landmarks(),
        reader.paths(),
    )


def by_path(symbols: Iterable[Symbol]) -> dict[str, tuple[Symbol, ...]]:
    """The symbols of each file, in the order of lines."""
    ordered = sorted(symbols, key=lambda symbol: (symbol.path, symbol.line, symbol.qualname))
    return {path: tuple(group) for path, group in groupby(ordered, key=lambda symbol: symbol.path)}
