# SPDX-License-Identifier: BSD-3-Clause
"""Prepares one tree for linking: its index, stubs and operators, and one search for each device."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from cartographer.expand.macros import MacroTable
from cartographer.link.bodies import Bodies
from cartographer.link.callgraph import CallGraph
from cartographer.link.composites import Operators
from cartographer.link.entries import Entries
from cartographer.link.guards import World
from cartographer.link.index import Index
from cartographer.link.made import Made, Maker
from cartographer.link.metal import MetalKernels
from cartographer.link.names import Names
from cartographer.link.reach import Search
from cartographer.link.signs import HEADERS, Signs, signs_of
from cartographer.link.stubs import Stubs, stubs_of
from cartographer.model.backend import device_of_key, layout_of_key
from cartographer.model.location import language_of
from cartographer.model.operator import Origin
from cartographer.scan.cpp import scan_cpp
from cartographer.scan.depth import QNNPACK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cartographer.model.fact import FileFacts
    from cartographer.model.operator import Operator, Registration

_CODE = ("aten/", "torch/csrc/", "c10/", "torch/headeronly/", "caffe2/", "functorch/csrc/", "torch/lib/")
_MADE = ("aten/src/ATen/", "aten/src/TH", "torch/csrc/")
_SKIPPED = (QNNPACK, "aten/src/ATen/test/", "aten/src/ATen/native/vulkan/", "torch/csrc/jit/")


def parse(text: str, path: str) -> FileFacts:
    """The facts in the text of an expansion, scanned in the language of the file `path` that it is in."""
    return scan_cpp(text.encode(), language_of(path))


@dataclass
class Tree:
    """Everything that linking needs of one PyTorch; each part is computed when it is first used."""

    operators: tuple[Operator, ...]
    facts: Mapping[str, FileFacts]
    source: Callable[[str], str | None] | None = None
    whole: Callable[[str], FileFacts] | None = None  # see Index
    fallbacks: Mapping[str, tuple[Registration, ...]] = field(default_factory=dict)  # by dispatch key, what is registered for all operators
    _searches: dict[tuple[str, str], Search] = field(default_factory=dict, repr=False)
    _by_key: dict[str, Search] = field(default_factory=dict, repr=False)
    _graphs: dict[str, CallGraph] = field(default_factory=dict, repr=False)
    _entries: dict[str, Entries] = field(default_factory=dict, repr=False)
    _worlds: dict[str, World] = field(default_factory=dict, repr=False)
    _names: dict[str, Names] = field(default_factory=dict, repr=False)

    @cached_property
    def files(self) -> Mapping[str, FileFacts]:
        """The facts of C, C++, CUDA, Objective-C++ and Metal files, by path."""
        return {p: f for p, f in self.facts.items() if p.startswith(_CODE) and f.language != "Python"}

    @cached_property
    def macros(self) -> MacroTable:
        """All macro definitions, as the build for CUDA has them."""
        return MacroTable(self.files, World("cuda").allows)

    @cached_property
    def maker(self) -> Maker:
        """The expander of macros at namespace scope."""
        return Maker(self.macros, parse)

    @cached_property
    def made(self) -> Made:
        """The definitions and registrations that macros at namespace scope make."""
        return self.maker.all(self.files, lambda path: path.startswith(_MADE) and not path.startswith(_SKIPPED))

    @cached_property
    def index(self) -> Index:
        """The index of all definitions, those that macros make included."""
        return Index(self.files, self.made.definitions, self.maker.head, self.whole)

    @cached_property
    def stubs(self) -> Stubs:
        """All dispatch stubs, with their registrations."""
        return stubs_of(self.files, self.made.uses)

    @cached_property
    def has_kernels(self) -> bool:
        """Whether this source has the bodies of kernels: a wheel has only headers."""
        return any(p.startswith("aten/src/ATen/native/") and p.endswith((".cpp", ".cu", ".mm")) for p in self.facts)

    @cached_property
    def metal(self) -> MetalKernels:
        """All Metal kernels, by the names that host code asks for."""
        return MetalKernels(self.files, self.macros)

    @cached_property
    def open_switches(self) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        """`USE_…` macros that the tree's own headers define under conditions, with those of each definition."""
        found: dict[str, list[tuple[str, ...]]] = {}
        for facts in self.files.values():
            for macro in facts.macros:
                if macro.name.startswith("USE_") and macro.guards:
                    found.setdefault(macro.name, []).extend([macro.guards] if macro.body.strip() in ("", "1") else [])
        return {name: tuple(guards) for name, guards in found.items()}

    @cached_property
    def by_name(self) -> Operators:
        """The operators, found by the names that C++ code calls them by."""
        return Operators(self.operators)

    @cached_property
    def bodies(self) -> Bodies:
        """The bodies of functions, as far as they are the same on every device."""
        return Bodies(self.index, self.by_name, self.stubs, self._signs, self.source)

    @cached_property
    def _signs(self) -> Signs:
        whole = self.whole or self.files.__getitem__
        return signs_of({path: whole(path) for path in HEADERS if path in self.files})

    @cached_property
    def written(self) -> dict[tuple[str, str], list[Operator]]:
        """The operators of native_functions.yaml, by namespace and base name."""
        table: dict[tuple[str, str], list[Operator]] = {}
        for operator in self.operators:
            if operator.origin is Origin.YAML:
                table.setdefault((operator.namespace, operator.base), []).append(operator)
        return table

    def python_line(self, path: str, name: str, registered: int) -> int | None:
        """The line of a Python function: the first of that name below its decorator, else the last one above the statement."""
        facts = self.facts.get(path)
        lines = sorted(d.line for d in facts.definitions if d.name == name) if facts is not None else []
        below = [line for line in lines if line >= registered]
        return below[0] if below else (lines[-1] if lines else None)

    def world(self, device: str) -> World:
        """The macros and switches of the build for a device."""
        if device not in self._worlds:
            self._worlds[device] = World(device, self.index.constants, self.open_switches)
        return self._worlds[device]

    def names(self, device: str) -> Names:
        """The look-up of C++ names for code that runs on a device."""
        if device not in self._names:
            self._names[device] = Names(self.index, self.world(device))
        return self._names[device]

    def entries(self, device: str) -> Entries:
        """The finder of the definitions that registrations name, for a device."""
        if device not in self._entries:
            self._entries[device] = Entries(self.index, self.names(device), self.world(device), device)
        return self._entries[device]

    def graph(self, device: str) -> CallGraph:
        """The classified calls of all bodies, for a device."""
        if device not in self._graphs:
            self._graphs[device] = CallGraph(self.index, self.names(device), self.by_name, self.stubs, self.bodies, self.world(device), device)
        return self._graphs[device]

    def search(self, key: str) -> Search:
        """The search for ways on a dispatch key: one for each device, and one more where the key is for another layout."""
        known = self._by_key.get(key)
        if known is None:
            known = self._by_key[key] = self._search(device_of_key(key), layout_of_key(key))
        return known

    def _search(self, device: str, layout: str) -> Search:
        if (device, layout) not in self._searches:
            self._searches[device, layout] = Search(self.graph(device), layout, self._search(device, "") if layout else None)
        return self._searches[device, layout]


def tree_of(
    operators: Iterable[Operator], facts: Mapping[str, FileFacts], source: Callable[[str], str | None] | None = None,
    whole: Callable[[str], FileFacts] | None = None,
) -> Tree:
    """Make a tree for linking; `source` gives a file's text where facts do not carry it (Metal names in strings), `whole` the facts of a
    file with what its functions call, where they leave that out.
    """
    return Tree(tuple(operators), facts, source, whole)
