# SPDX-License-Identifier: BSD-3-Clause
"""From a reader of the store to the catalog that pages are drawn from."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from cartographer.render.catalog import Catalog

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.model.atlas import Symbol
    from cartographer.store.reader import Reader


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
    )


def by_path(symbols: Iterable[Symbol]) -> dict[str, tuple[Symbol, ...]]:
    """Symbols by file, in line order."""
    ordered = sorted(symbols, key=lambda symbol: (symbol.path, symbol.line, symbol.qualname))
    return {path: tuple(group) for path, group in groupby(ordered, key=lambda symbol: symbol.path)}
