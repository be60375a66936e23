# SPDX-License-Identifier: BSD-3-Clause
"""The frozen values that the reader returns, one for each kind of page or question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cartographer.model.atlas import FileDates, FileEntry, Stub, Symbol, Unresolved
    from cartographer.model.location import Location
    from cartographer.model.operator import Origin
    from cartographer.model.source import SourceInfo


@dataclass(frozen=True, slots=True)
class Count:
    """One count of the atlas, in words, with the SQL statement that counts it again."""

    name: str
    value: int
    says: str
    receipt: str


@dataclass(frozen=True, slots=True)
class AtlasInfo:
    """Which PyTorch an atlas is of, and its counts."""

    source: SourceInfo
    tool_version: str
    schema: int
    counts: tuple[Count, ...]
    seconds: Mapping[str, float]
    strata_level: str
    strata_reason: str
    inputs: str = ""  # digest of everything that it was made from

    def count(self, name: str) -> int:
        """The value of one count; 0 when this atlas does not have it."""
        return next((c.value for c in self.counts if c.name == name), 0)


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """One overload in the list of all overloads. `dispatch` and `structured_keys` are what the letters of the coverage table need."""

    id: int
    name: str
    namespace: str
    base: str
    overload: str
    schema: str
    origin: Origin
    declared: Location
    build: tuple[str, ...]
    tags: tuple[str, ...]
    python: tuple[str, ...]  # its Python names, deprecated ones left out
    keys: tuple[str, ...]  # dispatch keys and alias keys with an active registration
    structured_keys: frozenset[str]  # those whose kernel is implied by `structured`
    dispatch: Mapping[str, str]  # runtime key -> what serves it (shared between rows)
    statuses: Mapping[str, str]  # backend -> resolved | none | unresolved
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resident:
    """One part of an operator that is in a file: its declaration, a kernel, a registration, a formula..."""

    operator: str
    relation: str  # declared | binding | registration | formula | helper | the role of a chain's step
    line: int
    symbol: str = ""
    backend: str = ""  # backend of the chain, or dispatch key of the registration
    direct: bool = True  # False: through another operator that it calls


@dataclass(frozen=True, slots=True)
class FileWhole:
    """Everything that the atlas knows about one file."""

    entry: FileEntry
    symbols: tuple[Symbol, ...]
    included_by: tuple[tuple[str, int], ...]  # (path, line)
    residents: tuple[Resident, ...]
    dates: FileDates | None
    unresolved: tuple[Unresolved, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """How one operator reaches a step of a chain: itself, or through an operator that it calls."""

    operator: str
    backend: str
    role: str
    symbol: str
    path: str
    line: int
    branch: str = ""
    direct: bool = True  # False: through another operator that it calls


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One step of chains (an entry, a kernel, device code...) with the operators that reach it."""

    role: str
    symbol: str
    path: str
    line: int
    backends: tuple[str, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StubRow:
    """A dispatch stub with the operators whose chains pass it."""

    stub: Stub
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """A name that a search found, before ranking. `kind` is one of search_words.KINDS."""

    kind: str
    number: int
    label: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer of the full-text search: a match with its place and its operators."""

    kind: str
    label: str
    detail: str = ""
    path: str = ""
    line: int = 0
    operators: tuple[str, ...] = ()
