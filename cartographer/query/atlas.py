# SPDX-License-Identifier: BSD-3-Clause
"""The Python interface of an atlas: the answers of the commands, as values.

>>> from cartographer import Atlas
>>> with Atlas.open("atlas/v2.6.0") as atlas:
...     print(atlas.where("index_select", backend="CUDA").descents[0].main)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from cartographer.query import atlases
from cartographer.store.doubt import doubting
from cartographer.store.reader import Reader

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from types import TracebackType

    from cartographer.model.operator import Operator
    from cartographer.query.reverse import Backwards
    from cartographer.query.where import Where
    from cartographer.store.values import AtlasInfo, Hit


class Atlas:
    """An open atlas. Everything it gives is a frozen value; `reader` has the rest."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None = None) -> Self:
        """Open the atlas at a folder or database, or the newest one of this machine."""
        return cls(Reader(atlases.newest() if path is None else Path(path)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the database of the atlas."""
        self.reader.close()

    @property
    def info(self) -> AtlasInfo:
        """Which PyTorch the atlas is of, and its counts."""
        return self.reader.info()

    def operators(self) -> Iterator[Operator]:
        """All operator overloads, sorted by name."""
        return self.reader.operators()

    def operator(self, name: str) -> tuple[Operator, ...]:
        """The overloads that `name` means, however it is written. Raises NotFound with near misses in its hint."""
        from cartographer.query import show

        with doubting(self.reader.path):
            return show.find(self.reader, name)[1]

    def where(self, name: str, backend: str | None = None) -> Where | Backwards:
        """The way down from an operator, or the way back from a symbol, stub, file or place to operators. Raises NotFound."""
        from cartographer.query.where import where

        with doubting(self.reader.path):
            return where(self.reader, name, backend)

    def search(self, words: str, most: int = 20) -> tuple[Hit, ...]:
        """What is named with words like these, best first."""
        from cartographer.query.search import search

        with doubting(self.reader.path):
            return search(self.reader, words, most)

    def export(self) -> Iterator[str]:
        """The lines of the JSON-lines export, one at a time."""
        from cartographer.query import export

        return export.lines(self.reader)
