# SPDX-License-Identifier: BSD-3-Clause
"""The atlas as a value: everything that is known about one pinned PyTorch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from cartographer.model.lineage import Lineage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.model.change import Comparison
    from cartographer.model.operator import Operator
    from cartographer.model.oplist import OperatorList
    from cartographer.model.source import SourceInfo


INSTANCE = "= "  # before what a kernel with a name for the host is an instance of, in place of its parameters: `= searchsorted<float, int>`


class Symbol(NamedTuple):
    """A definition worth finding: function, class, kernel, macro, stub, Python function. A tree has about a hundred thousand of them."""

    name: str
    qualname: str
    kind: str
    path: str
    line: int
    end_line: int
    signature: str = ""
    guards: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One scanned file: its blob id, size in bytes, language, and how much of it the parser could not read."""

    path: str
    blob: str
    size: int
    language: str
    lines: int
    error_nodes: int = 0
    error_bytes: int = 0
    includes: tuple[tuple[str, int], ...] = ()  # (resolved path in the tree, or the target as written; line)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stub:
    """A dispatch stub: where it is declared and defined, and what is registered to it per device."""

    name: str
    declared: tuple[tuple[str, int], ...]
    defined: tuple[tuple[str, int], ...]
    registrations: tuple[tuple[str, str, str, int], ...]  # (device or capability, kernel, path, line)


@dataclass(frozen=True, slots=True)
class GeneratedFile:
    """A file that PyTorch's build writes: which generator and template, and how many shards."""

    name: str
    generator: str  # path of the generator
    generator_line: int
    template: str | None
    shards: int
    holds: str  # one sentence


@dataclass(frozen=True, slots=True)
class Era:
    """A stratum: a named span of the history, with the commits that prove it."""

    name: str
    first: str  # ISO dates
    last: str
    evidence: tuple[tuple[str, str, str], ...] = ()  # (what, commit, date)


@dataclass(frozen=True, slots=True)
class Import:
    """A commit that brought a foreign tree or history: its lines came in by it, they were not written in it."""

    commit: str
    date: str
    kind: str  # "history": merged, its lines keep their own dates; "tree": copied, they bear the date of this commit
    folder: str  # where it put the files; "" = all over the tree
    files: int
    lines: int  # that it brought
    surviving: int  # that still bear its date
    subject: str
    reason: str  # how we know
    vendored: bool = False  # third-party code that keeps a licence or a folder of its own


@dataclass(frozen=True, slots=True)
class FileDates:
    """Dates of one file: runs of consecutive lines with the index of the commit each came in by."""

    path: str
    born: str | None  # ISO dates
    changed: str | None
    former_names: tuple[str, ...] = ()
    runs: tuple[tuple[int, int], ...] = ()  # (number of lines, index into Strata.commits); -1 = unknown


@dataclass(frozen=True, slots=True)
class Strata:
    """The dates of all lines of a tree, or the reason why there are none."""

    level: str  # "lines" | "files" | "none"
    reason: str = ""  # why not more, and what to run
    commits: tuple[tuple[str, str], ...] = ()  # (commit id, ISO date of the committer)
    files: Mapping[str, FileDates] = field(default_factory=dict)
    eras: tuple[Era, ...] = ()
    boundary: tuple[int, ...] = ()  # indexes of commits where a shallow clone ends: their lines are from then or before
    releases: tuple[str, ...] = ()  # tags, in the order of versions
    first_release: tuple[int, ...] = ()  # for each commit, the index of the first release that holds it; -1 = none
    imports: tuple[Import, ...] = ()
    vendored: tuple[str, ...] = ()  # folders of third-party code


ELSEWHERE = "elsewhere"  # kind of landmark: a backend whose kernels another repository has
COMMANDS = ("setup", "build", "test", "lint")  # kinds of landmarks: what a command of CONTRIBUTING is for


@dataclass(frozen=True, slots=True)
class Landmark:
    """A place that somebody who changes an operator or a file needs, outside the way of a call.

    `subject` is an operator's full base name ("aten::exp"), a path pattern (owners), a class of OpInfos (tests, listed), the
    heading above it (COMMANDS), or a folder (map),
    a dispatch key (ELSEWHERE: the line that names the repository); `public` is a name that Python gives to the operator's binding.
    """

    subject: str
    # docs | index | opinfo | tests | listed | named | decomposition | decompositions | lowering | sharding | override | reference | meta | compatibility
    # | owner | map | public | elsewhere | one of COMMANDS
    kind: str
    path: str
    line: int
    text: str = ""  # the owners, the command, the function


def elsewhere(marks: Iterable[Landmark]) -> dict[str, Landmark]:
    """The landmarks of backends whose kernels another repository has, by the device in small letters: also `SparseXPU` is an XPU."""
    return {mark.subject.lower(): mark for mark in marks if mark.kind == ELSEWHERE}


def said_elsewhere(mark: Landmark) -> str:
    """What an ELSEWHERE landmark says to a reader, without its own place."""
    return f"kernels of {mark.subject} are in {mark.text}, which the build fetches"


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Something that cartographer could not work out, with the reason; it is counted and shown."""

    stage: str
    subject: str
    reason: str
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Atlas:
    """One version of PyTorch with all that was found out about it: what `store` writes and every reader gets."""

    source: SourceInfo
    tool_version: str
    operators: tuple[Operator, ...]
    files: tuple[FileEntry, ...]
    symbols: tuple[Symbol, ...]
    stubs: tuple[Stub, ...] = ()
    generated: tuple[GeneratedFile, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    strata: Strata = field(default_factory=lambda: Strata("none", "not dated"))
    seconds: Mapping[str, float] = field(default_factory=dict)
    landmarks: tuple[Landmark, ...] = ()
    paths: tuple[str, ...] = ()  # of all files of the tree, scanned or not, sorted
    rows: OperatorList | None = None  # the declarations alone, as two releases are compared by
    bodies: Mapping[str, Mapping[int, bytes]] = field(default_factory=dict)  # path -> line of a step -> statements of the function there (compare/bodies.py)
    inputs: str = ""  # digest of everything that it was made from; the same digest again means that nothing changed
    lineage: Lineage = field(default_factory=Lineage)  # what became of its operators over the releases at hand
    since: Comparison | None = None  # what changed in its operators since the release before; None when no such list could be read
