# SPDX-License-Identifier: BSD-3-Clause
"""Reads atlas.db into frozen values: one method for each page or question. Nothing here needs PyTorch's tree.

What a look-up of one operator does not need is imported when it is asked for: `where` answers in a blink.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from cartographer.errors import NotFound, StoreError
from cartographer.store import database

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from types import TracebackType

    from cartographer.model.atlas import Era, FileDates, FileEntry, GeneratedFile, Landmark, Strata, Symbol, Unresolved
    from cartographer.model.change import Comparison
    from cartographer.model.compared import ComparedAtlas
    from cartographer.model.lineage import Lineage
    from cartographer.model.operator import Operator
    from cartographer.model.oplist import OperatorList
    from cartographer.store.dates import Dates
    from cartographer.store.files import Files
    from cartographer.store.lists import Lists
    from cartographer.store.lookup import Lookup
    from cartographer.store.operator_reader import OperatorReader, Routes
    from cartographer.store.search_reader import SearchReader
    from cartographer.store.values import (
        AtlasInfo,
        FileWhole,
        KernelRow,
        OperatorRow,
        Resident,
        StubRow,
    )


class Reader:
    """An open atlas. Use it in a `with`, or close it."""

    def __init__(self, path: Path) -> None:
        self.path = database.locate(path)
        self._connection = database.open_to_read(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection to the database."""
        self._connection.close()

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with database.explained(self.path):
            return self._connection.execute(statement, values).fetchall()

    @cached_property
    def lookup(self) -> Lookup:
        """The look-up of names, symbols and places, and of the operators that reach them."""
        from cartographer.store.lookup import Lookup

        return Lookup(self._connection, self.path)

    @cached_property
    def search(self) -> SearchReader:
        """The full-text index of the atlas."""
        from cartographer.store.search_reader import SearchReader

        return SearchReader(self._connection, self.path, self.lookup)

    @cached_property
    def _operators(self) -> OperatorReader:
        from cartographer.store.operator_reader import OperatorReader

        return OperatorReader(self._connection)

    @cached_property
    def _lists(self) -> Lists:
        from cartographer.store.lists import Lists

        return Lists(self._connection, self.path, self._operators)

    @cached_property
    def _files(self) -> Files:
        from cartographer.store.files import Files

        return Files(self._connection, self.path, self._operators)

    @cached_property
    def _dates(self) -> Dates:
        from cartographer.store.dates import Dates

        return Dates(self._connection, self.path)

    # Operators

    def operators(self) -> Iterator[Operator]:
        """All operators with everything that is known about them, sorted by name, one at a time."""
        for (number,) in self._all("SELECT id FROM operator ORDER BY id"):
            with database.explained(self.path):
                operator = self._operators.operator(number)
            yield operator

    def operator(self, name: str) -> Operator:
        """The overload with this full name (`aten::add.Tensor`). Raises NotFound."""
        number = self._number(name)
        with database.explained(self.path):
            return self._operators.operator(number)

    def routes(self, name: str) -> Routes:
        """The dispatch table and the chains of the overload with this full name. Raises NotFound."""
        number = self._number(name)
        with database.explained(self.path):
            return self._operators.routes(number)

    def _number(self, name: str) -> int:
        rows = self._all("SELECT id FROM operator WHERE name = ?", name)
        if not rows:
            raise NotFound(f"no operator is called {name}", where=str(self.path))
        (number,) = rows[0]
        assert isinstance(number, int)
        return number

    def group(self, base: str, namespace: str = "aten") -> tuple[Operator, ...]:
        """All overloads of one base name (in-place underscore is part of it), sorted by name."""
        rows = self._all("SELECT id FROM operator WHERE base = ? AND namespace = ? ORDER BY id", base, namespace)
        with database.explained(self.path):
            return tuple(self._operators.operator(number) for (number,) in rows)

    def groups(self) -> tuple[tuple[str, str, int], ...]:
        """(namespace, base, number of overloads) of all operators, sorted."""
        return tuple(
            self._all(
                "SELECT namespace, base, count(*) FROM operator GROUP BY namespace, base ORDER BY namespace, base"
            )
        )

    def operator_rows(self) -> tuple[OperatorRow, ...]:
        """All overloads as rows of a list, sorted by name."""
        return self._lists.operator_rows()

    def oplist(self) -> OperatorList | None:
        """The operator list as the yaml files declare it, by which two releases are compared. None when none was stored."""
        return self._lists.oplist()

    def compared(self) -> ComparedAtlas:
        """What the comparison with another atlas reads: bindings, tables, Nodes, own chains and the code of kernels."""
        return self._lists.compared()

    def lineage(self) -> Lineage:
        """What happened to every operator over the releases that were at hand when the atlas was built."""
        return self._lists.lineage()

    def since(self) -> Comparison | None:
        """What changed in the operators since the release before, if that was at hand when the atlas was built; else None."""
        return self._lists.since()

    # The whole

    def info(self) -> AtlasInfo:
        """Which PyTorch the atlas is of, and its counts with their receipts."""
        return self._lists.info()

    def kernels(self, roles: tuple[str, ...] = ("entry", "kernel", "device")) -> tuple[KernelRow, ...]:
        """All steps of chains with one of these roles, each with the operators that reach it, sorted by symbol."""
        return self._lists.kernels(roles)

    def steps(self, roles: tuple[str, ...]) -> frozenset[tuple[str, str, int]]:
        """(symbol, path, line) of all steps with one of these roles: much faster than `kernels`, which adds the operators."""
        return self._lists.steps(roles)

    def stubs(self) -> tuple[StubRow, ...]:
        """All dispatch stubs with the operators whose chains pass them, in the order they were found."""
        return self._lists.stubs()

    def generated(self) -> tuple[GeneratedFile, ...]:
        """The files that PyTorch's build writes, with their generators."""
        return self._lists.generated()

    def paths(self) -> frozenset[str]:
        """The paths of all files of the tree, scanned or not: what a link may point to."""
        return self._lists.paths()

    def landmarks(self, subject: str | None = None) -> tuple[Landmark, ...]:
        """Documentation, OpInfo, references, owners, commands: of one subject ("aten::exp"), or all."""
        return self._lists.landmarks(subject)

    def unresolved(self) -> tuple[Unresolved, ...]:
        """Everything that could not be told about this PyTorch, with the reasons."""
        return self._lists.unresolved()

    # Files and symbols

    def file(self, path: str) -> FileWhole:
        """Everything about one file. Raises NotFound."""
        return self._files.file(path)

    def file_entries(self) -> tuple[FileEntry, ...]:
        """All files with their includes and notes, in the order they were read."""
        return self._files.file_entries()

    def residents(self, path: str) -> tuple[Resident, ...]:
        """The parts of operators that are in one file (declarations, kernels, registrations, …), sorted by line."""
        return self._files.residents(path)

    def living(self, path: str) -> int:
        """The number of operator overloads that have a part in one file."""
        return self._files.living(path)

    def all_residents(self) -> Mapping[str, tuple[Resident, ...]]:
        """The parts of operators in every file that has some, by path: read in one pass, for whoever needs all of them."""
        return self._files.all_residents()

    def symbols(self, kind: str | None = None) -> tuple[Symbol, ...]:
        """All symbols in the order they were found, or those of one kind."""
        return self._files.symbols(kind)

    def symbols_in(self, path: str) -> tuple[Symbol, ...]:
        """The symbols of one file, sorted by line."""
        return self._files.symbols_in(path)

    def symbol_places(self, kinds: tuple[str, ...]) -> frozenset[tuple[str, int]]:
        """(path, line) of all symbols of these kinds: much faster than `symbols`, which reads their signatures too."""
        return self._files.symbol_places(kinds)

    def symbol_counts(self) -> Mapping[str, int]:
        """The number of symbols in each file, by path."""
        return self._files.symbol_counts()

    def symbol_kinds(self) -> Mapping[str, int]:
        """The number of symbols of each kind."""
        return self._files.symbol_kinds()

    # Strata

    def strata(self) -> Strata:
        """All dates: eras, commits, and the runs of every dated file. Some tens of megabytes for a whole history."""
        return self._dates.strata()

    def eras(self) -> tuple[Era, ...]:
        """The named spans of the history, oldest first."""
        return self._dates.eras()

    def file_dates(self, path: str) -> FileDates | None:
        """The dates of one file and of its lines; None when it is not dated."""
        return self._dates.file_dates(path)


def inputs_of(folder: Path) -> str:
    """The digest of what the atlas in `folder` was made from; "" when there is no atlas that this version can read."""
    try:
        with Reader(folder) as reader:
            return reader.info().inputs
    except StoreError:
        return ""


def oplist_of(folder: Path) -> OperatorList | None:
    """The operator list of the atlas in `folder`. Raises StoreError."""
    with Reader(folder) as reader:
        return reader.oplist()


def lineage_of(folder: Path) -> Lineage | None:
    """What the atlas in `folder` knows of other releases; None when there is no atlas that this version can read."""
    try:
        with Reader(folder) as reader:
            return reader.lineage()
    except StoreError:
        return None
