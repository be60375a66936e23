# SPDX-License-Identifier: BSD-3-Clause
"""Collects everything that is registered by hand, in C++ and in Python, with the rules of the dispatcher's keys."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from cartographer.dispatch.build import DEVICE_TYPES, Build, device_types, in_view
from cartographer.dispatch.cmake import read_project
from cartographer.dispatch.findings import Findings
from cartographer.dispatch.inference import custom_classes, inferred_schema
from cartographer.dispatch.keys import PATHS, read_rules
from cartographer.dispatch.library import library_findings, makers_of, scopes, wanted
from cartographer.dispatch.python.findings import python_findings
from cartographer.dispatch.python.world import World
from cartographer.dispatch.table import Tables
from cartographer.expand.macros import MacroTable
from cartographer.model.atlas import Unresolved
from cartographer.model.dispatch import CATCH_ALL
from cartographer.processes import beside, collector_at_rest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cartographer.dispatch.findings import Defined
    from cartographer.model.dispatch import KeyRules
    from cartographer.model.fact import FileFacts
    from cartographer.model.operator import Operator, Registration

# The files to bring: where registrations may stand, and what tells the build and the keys.
WANTED = (
    "CMakeLists.txt", "aten/*CMakeLists.txt", "caffe2/*CMakeLists.txt", "torch/*CMakeLists.txt", "c10/*CMakeLists.txt",
    "cmake/*.cmake", "build_variables.bzl", "tools/build_variables.bzl",
    "aten/*.cpp", "aten/*.cc", "aten/*.cu", "aten/*.mm", "aten/*.h", "torch/csrc/*.cpp", "torch/csrc/*.cu", "torch/csrc/*.mm",
    "torch/csrc/*.h", "torch/lib/*.cpp", "torch/library.h", "tools/autograd/templates/*.cpp", "caffe2/*.cc", "caffe2/*.cpp", "functorch/*.cpp", "functorch/*.h",
    "c10/core/DispatchKey.h", "c10/core/DispatchKeySet.h", "c10/core/DispatchKeySet.cpp", *DEVICE_TYPES, "torch/*.py",
)  # fmt: skip
_CPP = re.compile(r"\.(?:cpp|cc|cu|mm|h|hpp)\Z")
# Where the macros themselves are defined; what they show in comments registers nothing.
_DEFINITIONS = re.compile(r"torch/library\.h\Z|core/op_registration/|core/library\.cpp\Z|torch/csrc/stable/library\.h\Z|core/dispatch/")


@dataclass(frozen=True, slots=True)
class Collected:
    """All registrations by hand, with the rules of the keys: what `assemble` joins with torchgen's operators."""

    findings: Findings
    rules: KeyRules | None
    script_only: int = 0
    complete: bool = True  # False: the C++ sources are not here (a wheel)
    files: tuple[str, ...] = field(default=())  # C++ files that register something


@dataclass(frozen=True, slots=True)
class InCpp:
    """What C++ registers by hand, with what is needed to follow the registrations from Python after it."""

    findings: Findings
    rules: KeyRules | None
    asked: Callable[[str], bool | None]  # whether the stock build has a part: "cuda", "kineto"
    complete: bool


def registrations(
    facts: Mapping[str, FileFacts], operators: Iterable[Operator], sources: Mapping[str, bytes]
) -> Collected:
    """Read all registrations by hand. `facts` are those of the whole tree (macros and includes), `operators` are torchgen's
    with their registrations, `sources` the files that WANTED names.
    """
    return with_python(in_cpp(facts, sources), operators, sources)


def in_cpp(facts: Mapping[str, FileFacts], sources: Mapping[str, bytes], workers: int = 1) -> InCpp:
    """Read the registrations by hand in C++; torchgen's operators are not needed for them."""
    with collector_at_rest():
        return _in_cpp(facts, sources, workers)


def _in_cpp(facts: Mapping[str, FileFacts], sources: Mapping[str, bytes], workers: int) -> InCpp:
    project = read_project(sources.get)
    texts = {path: sources[path].decode("utf-8", "replace") for path in PATHS if path in sources}
    build = Build(project, device_types(sources))
    table = MacroTable(facts, build.holds)
    rules, notes = read_rules(texts, table)
    makers = makers_of(table)
    listed = [
        (path, data.decode("utf-8", "replace"))
        for path, data in sorted(sources.items())
        if _CPP.search(path) and not _DEFINITIONS.search(path) and wanted(data, makers)
    ]
    complete = any(path.endswith((".cpp", ".cc", ".cu")) and "/templates/" not in path for path in sources)
    known = scopes(facts)
    half = _half(listed)
    second = beside(lambda: library_findings(listed[half:], table, build, known, makers), workers=workers)
    first = library_findings(listed[:half], table, build, known, makers)
    found = first + second.result() + Findings(unresolved=notes)
    classes = custom_classes(text for _, text in listed)
    found = replace(found, defined=tuple(_with_schema(defined, facts, classes) for defined in found.defined))
    if not complete:
        reason = "not in a wheel: blocks of TORCH_LIBRARY stand in .cpp files"
        found += Findings(unresolved=(Unresolved("dispatch", "registrations by hand in C++", reason),))
    asked = build.switch if project.settings else lambda _name: True
    return InCpp(found, rules, lambda name: asked(f"USE_{name.upper()}"), complete)


def _half(listed: Sequence[tuple[str, str]]) -> int:
    """Where the files before hold as much text as those behind."""
    sizes = list(accumulate(len(text) for _, text in listed))
    return bisect_left(sizes, sizes[-1] / 2) if sizes else 0


def with_python(native: InCpp, operators: Iterable[Operator], sources: Mapping[str, bytes]) -> Collected:
    """Add what Python registers when torch is imported to what C++ registers."""
    found, rules = native.findings, native.rules
    if rules is not None:
        with collector_at_rest():
            world = _world(rules, tuple(operators), found, complete=native.complete)
            python = {path: data for path, data in sources.items() if path.endswith(".py")}
            found += python_findings(python, world, native.asked)
    places = [*(d.place for d in found.defined), *(r.place for r in found.registered), *(f.place for f in found.fallbacks)]
    paths = tuple(sorted({place.path for place in places}))
    return Collected(found, rules, len({s.name for s in found.script}), native.complete, paths)


def _with_schema(defined: Defined, facts: Mapping[str, FileFacts], classes: Mapping[str, str]) -> Defined:
    """A definition by name alone, with the schema that its function's type gives."""
    if defined.schema is not None or not defined.function:
        return defined
    return replace(defined, schema=inferred_schema(defined.name, defined.function, defined.place.path, facts, classes))


def _world(rules: KeyRules, operators: tuple[Operator, ...], found: Findings, *, complete: bool) -> World:
    """The dispatcher as it stands when Python begins to register: what the stock build registers from C++."""
    tables = Tables(rules, [f for f in found.fallbacks if not f.build])
    world = World(rules, tables.of_kernels, is_complete=complete)
    for operator in operators:
        if in_view(operator.build):
            world.add(operator.name, operator.schema)
            world.kernels[operator.name] = _kernels(rules, operator.registrations)
    for defined in found.defined:
        if not defined.build and defined.name not in world.schemas:
            world.add(defined.name, defined.schema or "")
            world.kernels.setdefault(defined.name, {})
    for registered in found.registered:
        if not registered.build and registered.name in world.schemas:
            key = rules.catch_all if registered.key == CATCH_ALL else rules.key(registered.key)
            world.kernels.setdefault(registered.name, {})[key] = registered.fallthrough
    world.add_script((s.name, s.schema) for s in found.script)
    return world


def _kernels(rules: KeyRules, registrations: Iterable[Registration]) -> dict[str, bool]:
    return {rules.key(r.key): r.fallthrough for r in registrations if in_view(r.build)}
