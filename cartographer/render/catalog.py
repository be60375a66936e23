# SPDX-License-Identifier: BSD-3-Clause
"""The whole atlas in memory with reverse indexes: which operators use a file, which reach a kernel, what is in a folder.

Built once before the first page; the processes that write pages share it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from cartographer.model.atlas import COMMANDS, elsewhere
from cartographer.model.operator import Origin
from cartographer.model.schema import FunctionSchema, SchemaError
from cartographer.model.source import SourceKind
from cartographer.render import coverage, urls
from cartographer.render.ground import Ground

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from cartographer.model.atlas import FileEntry, GeneratedFile, Landmark, Strata, Stub, Symbol, Unresolved
    from cartographer.model.operator import Chain, Operator
    from cartographer.render.coverage import Column
    from cartographer.store.values import AtlasInfo

PART = 700  # symbols on one page of a file
_MARKED = {
    "docs": "documented", "index": "in the index of the docs", "opinfo": "described for tests", "reference": "written again in Python",
    "decomposition": "taken apart", "meta": "meta function",
}  # fmt: skip
step_key = attrgetter("role", "symbol", "path", "line", "note", "branch")  # what makes two steps equal, quicker to compare than they are
_NAMELESS = "(anonymous)::"  # a namespace without a name, in a qualified one
_A_LIST = 60  # operators; a file that declares more is a list, and the plate of operators gives its lines


class Use(NamedTuple):
    """An operator that uses a file, and how: declared, bound, registered there, and so on."""

    operator: str
    how: str
    line: int
    key: str = ""  # backend or dispatch key


@dataclass(slots=True)
class Folder:
    """What is in a folder, its subfolders included; filled while the catalog is built."""

    path: str
    folders: list[str] = field(default_factory=list)
    files: list[FileEntry] = field(default_factory=list)
    lines: int = 0
    count: int = 0
    error_bytes: int = 0
    size: int = 0
    operators: set[str] = field(default_factory=set)


class Catalog:
    """One atlas in memory, with the indexes that pages need."""

    def __init__(
        self,
        info: AtlasInfo,
        operators: Sequence[Operator],
        files: Sequence[FileEntry],
        symbols: Mapping[str, Sequence[Symbol]],
        stubs: Sequence[Stub],
        generated: Sequence[GeneratedFile],
        unresolved: Sequence[Unresolved],
        strata: Strata,
        landmarks: Sequence[Landmark] = (),
        tree: frozenset[str] = frozenset(),
    ) -> None:
        """Take the values as the store has them; `symbols` by path, in line order; `tree` all paths, empty when not known."""
        self.info = info
        self.source = info.source
        self.operators = tuple(sorted(operators, key=lambda op: op.name))
        self.files = tuple(sorted(files, key=lambda entry: entry.path))
        self.symbols = symbols
        self.stubs = tuple(sorted(stubs, key=lambda stub: stub.name))
        self.generated = tuple(sorted(generated, key=lambda entry: entry.name))
        self.unresolved = tuple(unresolved)
        self.landmarks = tuple(landmarks)
        self.tree = tree if info.source.kind is not SourceKind.WHEEL else frozenset()  # a wheel ships only some of the repository
        self.ground = Ground(strata)
        self.by_name = {op.name: op for op in self.operators}
        self.by_path = {entry.path: entry for entry in self.files}

    # Operators ---------------------------------------------------------------------------------

    @cached_property
    def bases(self) -> dict[str, tuple[Operator, ...]]:
        """The operators of each page, by the page's address without ending; `add_` is on the page of `add`."""
        keys = page_keys((op.namespace, op.base) for op in self.operators)
        found: dict[str, list[Operator]] = defaultdict(list)
        for op in self.operators:
            found[keys[op.namespace, op.base]].append(op)
        return {key: tuple(found[key]) for key in sorted(found)}

    @cached_property
    def mains(self) -> dict[str, Operator]:
        """The overload that each page shows first."""
        return {key: main_of(operators) for key, operators in self.bases.items()}

    @cached_property
    def key_of(self) -> dict[str, str]:
        """The page key of each operator, by full name."""
        return {op.name: key for key, ops in self.bases.items() for op in ops}

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the coverage matrix: dispatch keys."""
        return coverage.columns(self.operators)

    @cached_property
    def letters(self) -> dict[str, tuple[str, ...]]:
        """The letter in each column of the coverage matrix, by the operator's full name; the matrix, its data and every page use them."""
        keys = [column.key for column in self.columns]
        return {op.name: coverage.letters(op, keys, self.by_name, self.elsewhere) for op in self.operators}

    @cached_property
    def occurring(self) -> frozenset[str]:
        """The letters that stand anywhere in the coverage matrix."""
        return frozenset(letter for row in self.letters.values() for letter in row)

    @cached_property
    def in_order(self) -> tuple[Operator, ...]:
        """All operators in the order in which people look names up: aten first, leading underscores and case ignored."""

        def rank(op: Operator) -> tuple[bool, str, str, str, str]:
            namespace, base = op.namespace, op.base
            return namespace != "aten", namespace, base.strip("_").lower(), base, op.overload

        return tuple(sorted(self.operators, key=rank))

    @cached_property
    def _chain_numbers(self) -> dict[int, int]:
        """The number of each chain by its identity; equal chains have the same."""
        known: dict[tuple[object, ...], int] = {}
        return {
            id(chain): known.setdefault((chain.status, chain.reason, *map(step_key, chain.steps)), len(known))
            for op in self.operators for chain in op.kernels.values()
        }  # fmt: skip

    def alike(self, chain: Chain) -> Hashable:
        """What equal chains share. All that are in this atlas were compared once: on every page that would be step by step anew."""
        return self._chain_numbers.get(id(chain), chain)

    @cached_property
    def nodes(self) -> dict[str, tuple[str, ...]]:
        """The operators that record each autograd Node, by its name."""
        found: dict[str, list[str]] = defaultdict(list)
        for op in self.operators:
            for node in op.autograd.nodes if op.autograd else ():
                found[node].append(op.name)
        return {node: tuple(found[node]) for node in sorted(found)}

    @cached_property
    def landmarks_of(self) -> dict[str, tuple[Landmark, ...]]:
        """The landmarks (documentation, test descriptions and other registries) by their subject."""
        found: dict[str, list[Landmark]] = defaultdict(list)
        for landmark in self.landmarks:
            found[landmark.subject].append(landmark)
        return {subject: tuple(rows) for subject, rows in found.items()}

    @cached_property
    def elsewhere(self) -> dict[str, Landmark]:
        """The lines that name the repositories which have a backend's kernels in place of this one, by device."""
        return elsewhere(self.landmarks)

    @cached_property
    def owners(self) -> tuple[Landmark, ...]:
        """The rules of CODEOWNERS, in the order of the file."""
        return tuple(sorted((mark for mark in self.landmarks if mark.kind == "owner"), key=lambda mark: mark.line))

    @cached_property
    def commands(self) -> tuple[Landmark, ...]:
        """The commands that CONTRIBUTING.md gives, and README.md for the build, in their order, each once."""
        found: dict[str, Landmark] = {}
        for mark in sorted((mark for mark in self.landmarks if mark.kind in COMMANDS), key=lambda mark: (mark.path, mark.line)):
            found.setdefault(mark.text, mark)
        return tuple(found.values())

    @cached_property
    def described(self) -> dict[str, Landmark]:
        """What the map in CONTRIBUTING.md says about folders, by folder."""
        return {mark.subject: mark for mark in self.landmarks if mark.kind == "map"}

    # Places ------------------------------------------------------------------------------------

    @cached_property
    def uses(self) -> dict[str, tuple[Use, ...]]:
        """The operators that use each file: declared, bound, registered, computed or differentiated there."""
        found: dict[str, set[Use]] = defaultdict(set)
        lists = {path for path, count in self.declared_in.items() if path.endswith((".yaml", ".yml")) or count > _A_LIST}
        for op in self.operators:
            for path, use in _uses(op):
                if path not in lists or use.how != "declared":
                    found[path].add(use)
        plainest: dict[str, str] = {}  # the overload that stands for a name
        for op in sorted(self.operators, key=lambda op: (len(op.name), op.name)):
            plainest.setdefault(f"{op.namespace}::{op.base}", op.name)
        for mark in self.landmarks:
            if mark.subject in plainest and mark.kind in _MARKED:
                found[mark.path].add(Use(plainest[mark.subject], _MARKED[mark.kind], mark.line))
        return {path: tuple(sorted(found[path])) for path in found}

    @cached_property
    def declared_in(self) -> dict[str, int]:
        """The number of operators that each file declares."""
        found: dict[str, int] = defaultdict(int)
        for op in self.operators:
            found[op.declared.path] += 1
        return dict(found)

    @cached_property
    def functions(self) -> dict[str, tuple[tuple[str, int, bool], ...]]:
        """The places of all functions and methods by qualified name, namespaces without a name left out; and whether there is one, so that only its own file sees it."""
        found: dict[str, list[tuple[str, int, bool]]] = defaultdict(list)
        for symbols in self.symbols.values():
            for symbol in symbols:
                if symbol.kind in ("function", "method"):
                    name = symbol.qualname.replace(_NAMELESS, "")
                    found[name].append((symbol.path, symbol.line, name != symbol.qualname))
        return {name: tuple(places) for name, places in found.items()}

    @cached_property
    def included_by(self) -> dict[str, tuple[str, ...]]:
        """The files that include or import each file."""
        found: dict[str, set[str]] = defaultdict(set)
        for entry in self.files:
            for target, _line in entry.includes:
                if target in self.by_path and target != entry.path:
                    found[target].add(entry.path)
        return {path: tuple(sorted(found[path])) for path in found}

    @cached_property
    def part_of(self) -> dict[str, dict[int, int]]:
        """For each file, line of a symbol -> the part of the file's page that shows the symbol."""
        return {
            path: {symbol.line: 1 + number // PART for number, symbol in enumerate(symbols)}
            for path, symbols in self.symbols.items()
        }

    def anchor(self, path: str, line: int) -> int:
        """The line whose anchor leads to this line: that of the symbol that starts at or contains it; 0 where there is none."""
        if not line or line in self.part_of.get(path, ()):
            return line
        around = self.symbol_at(path, line)
        return around.line if around else 0

    @cached_property
    def _extents(self) -> dict[str, tuple[list[int], list[int]]]:
        """Of each file's symbols: where each begins, and how far those up to it reach at most."""
        return {path: ([s.line for s in symbols], list(accumulate((s.end_line for s in symbols), max))) for path, symbols in self.symbols.items()}

    def symbol_at(self, path: str, line: int) -> Symbol | None:
        """The innermost symbol whose lines contain this line."""
        symbols = self.symbols.get(path)
        if symbols is None:
            return None
        begins, ends = self._extents[path]
        at = bisect_right(begins, line) - 1
        while at >= 0 and ends[at] >= line:
            if symbols[at].end_line >= line:
                return symbols[at]
            at -= 1
        return None

    # Folders -----------------------------------------------------------------------------------

    @cached_property
    def folders(self) -> dict[str, Folder]:
        """Every folder that contains a scanned file, by path, parents first; "" is the root."""
        found: dict[str, Folder] = {"": Folder("")}
        for entry in self.files:
            parent = _open(found, entry.path.rpartition("/")[0])
            parent.files.append(entry)
            living = {use.operator for use in self.uses.get(entry.path, ())}
            for path in _upwards(parent.path):
                folder = found[path]
                folder.lines += entry.lines
                folder.count += 1
                folder.size += entry.size
                folder.error_bytes += entry.error_bytes
                folder.operators |= living
        for folder in found.values():
            folder.folders.sort()
        return {path: found[path] for path in sorted(found)}


def page_keys(names: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The key of the page of each operator, by (namespace, base); `add_` is on the page of `add`."""
    known = frozenset(names)

    def with_whom(namespace: str, base: str) -> str:
        stands_with = base.endswith("_") and not base.endswith("__") and (namespace, base[:-1]) in known
        return base[:-1] if stands_with else base

    return {(namespace, base): urls.operator_key(namespace, with_whom(namespace, base)) for namespace, base in known}


def main_of(operators: Sequence[Operator]) -> Operator:
    """The overload that a plain call in Python most likely means: bound, written by hand, neither in place nor out=,
    with numbers rather than names for the dimensions.
    """

    def rank(op: Operator) -> tuple[bool, bool, bool, bool, bool, int, str]:
        return (
            op.origin is Origin.GENERATED,
            op.base.endswith("_") and not op.base.endswith("__"),
            "out" in op.overload.split("_") or op.overload.endswith("out"),
            not op.bindings,
            op.overload not in ("Tensor", "", "self"),
            _names_in(op),
            op.name,
        )

    return min(operators, key=rank)


def _names_in(op: Operator) -> int:
    """How many strings a call passes, none where the schema cannot be read: a `Dimname` is one (aten/src/ATen/core/Dimname.h)."""
    try:
        return sum(a.element == "str" for a in FunctionSchema.parse(op.schema).arguments) if "str" in op.schema else 0
    except SchemaError:
        return 0


def _open(found: dict[str, Folder], path: str) -> Folder:
    folder = found.get(path)
    if folder is None:
        folder = found[path] = Folder(path)
        _open(found, path.rpartition("/")[0]).folders.append(path)
    return folder


def _upwards(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]
    yield ""


def _uses(op: Operator) -> Iterator[tuple[str, Use]]:
    yield op.declared.path, Use(op.name, "declared", op.declared.line)
    for binding in op.bindings:
        if binding.place:
            yield binding.place.path, Use(op.name, "bound", binding.place.line)
    for registration in op.registrations:
        if registration.place:
            yield registration.place.path, Use(op.name, "registered", registration.place.line, registration.key)
    for backend, chain in op.kernels.items():
        for step in chain.steps:
            if step.role == "calls":
                break  # below a call it is another operator's home
            yield step.path, Use(op.name, step.role, step.line, backend)
    if op.autograd:
        for helper in op.autograd.helpers:
            yield helper.place.path, Use(op.name, "derivative", helper.place.line)
