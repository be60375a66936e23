# SPDX-License-Identifier: BSD-3-Clause
"""Finds all places that a change of an operator touches, the files to read for it, and the commands of the repository's own CONTRIBUTING."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cartographer.guide.owners import Owners
from cartographer.model.backend import in_order
from cartographer.model.operator import Origin, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cartographer.model.atlas import Landmark
    from cartographer.model.location import Location
    from cartographer.model.operator import Chain, Operator, Step
    from cartographer.store.reader import Reader


@dataclass(frozen=True, slots=True)
class Touch:
    """One place to change with an operator: what it is, where it is, and what is written there."""

    what: str
    path: str
    line: int
    text: str = ""
    words: bool = False  # the text is words of ours, not a name from the source


@dataclass(frozen=True, slots=True)
class Reading:
    """A file to read: its length in lines, its age where that is known, and its owners. `line`: where to begin; 0 = at the top."""

    path: str
    lines: int = 0
    operators: int = 0  # that stand in it
    born: str = ""  # ISO date of its first line, "" when not dated
    changed: str = ""
    owner: Touch | None = None
    line: int = 0
    missing: str = ""  # why this release has it not


_KINDS = {
    "meta": "meta function", "docs": "documentation", "index": "index of the docs", "opinfo": "OpInfo", "tests": "tests", "decomposition": "decomposition",
    "reference": "Python reference", "compatibility": "exempt from the schema check",
}  # fmt: skip
_COMPOSITE = {"math kernel": "composite kernel (implicit)", "default backend kernel": "composite kernel (explicit)"}
_EVERY_TEST = 4  # test files over every OpInfo that are named; the rest is counted
_PURPOSES = {
    "setup": re.compile(r"setup-env|submodule update|pip3? install (?!py-spy|pytest)"),
    "build": re.compile(r"setup\.py (?:develop|build|install)|^cmake|^ninja|pip3? install (?:-e|--no-build)|^spin "),
    "test": re.compile(r"\btest/|pytest|/bin/test|doctest|^\./build/"),
    "lint": re.compile(r"lint"),
}


def touches(reader: Reader, overloads: Iterable[Operator]) -> tuple[Touch, ...]:
    """The places in the order in which one would go through them: declaration, kernels, derivative, bindings, docs, tests, owners.

    A place that several overloads or backends share is listed once, with everything that it is.
    """
    overloads = tuple(overloads)
    found: dict[tuple[str, int], Touch] = {}
    marks = reader.landmarks(f"{overloads[0].namespace}::{overloads[0].base}") if overloads else ()
    for touch in (*_kernels(overloads), *_of_kinds(marks, ("meta",)), *_gradients_and_bindings(overloads), *_of_landmarks(reader, marks)):
        known = found.get((touch.path, touch.line))
        found[touch.path, touch.line] = replace(known, what=_joined(known.what, touch.what)) if known else touch
    owners = Owners(mark for mark in reader.landmarks() if mark.kind == "owner")
    for path in dict.fromkeys(touch.path for touch in tuple(found.values())):
        if (rule := owners.of(path)) is not None:
            found.setdefault((rule.path, rule.line), Touch("owners", rule.path, rule.line, f"{rule.subject} {rule.text}"))
    return tuple(found.values())


def _joined(known: str, more: str) -> str:
    """`CPU, CUDA entry` of `CPU entry` and `CUDA entry`."""
    before, _, role = known.rpartition(" ")
    name, _, same = more.rpartition(" ")
    if more in (known, *known.split(", ")) or (role == same and name in before.split(", ")):
        return known
    return f"{before}, {name} {role}" if role == same and before and name else f"{known}, {more}"


def _kernels(overloads: tuple[Operator, ...]) -> Iterator[Touch]:
    for op in overloads:
        if op.origin is not Origin.GENERATED:
            yield Touch("yaml row" if op.origin is Origin.YAML else "declaration", op.declared.path, op.declared.line, op.name.partition("::")[2])
    for key in in_order({key for op in overloads for key in op.kernels}):
        for op in overloads:
            yield from _of_backend(op, key)


def _gradients_and_bindings(overloads: tuple[Operator, ...]) -> Iterator[Touch]:
    for op in overloads:
        if op.autograd and op.autograd.formula:
            named = ", ".join(op.autograd.nodes) or op.name.partition("::")[2]
            yield Touch("derivative", op.autograd.formula.path, op.autograd.formula.line, named)
    bindings = [binding for op in overloads for binding in op.bindings]
    for binding in bindings:
        if binding.place:
            yield Touch("binding, by hand", binding.place.path, binding.place.line, binding.python)
    written = dict.fromkeys(b.python for b in bindings if b.generator and not b.place)
    generator = next((b.generator for b in bindings if b.generator and not b.place), None)
    if generator:
        yield Touch("binding, written by", generator.path, generator.line, ", ".join(tuple(written)[:3]))


def _of_backend(op: Operator, key: str) -> Iterator[Touch]:
    chain, served = op.kernels.get(key), op.dispatch.get(key, "")
    if chain is None or chain.status is not Status.RESOLVED or not chain.steps or op.origin is Origin.GENERATED:
        return
    if served == "kernel":
        yield from (Touch(f"{key} {step}", path, line, symbol) for step, path, line, symbol in _own(chain))
    elif served in _COMPOSITE and key in ("CPU", "Meta"):
        yield Touch(_COMPOSITE[served], chain.steps[0].path, chain.steps[0].line, chain.steps[0].symbol)


def _own(chain: Chain) -> Iterator[tuple[str, str, int, str]]:
    """The steps that belong to the operator: its entry, and the next function, or the kernel behind a stub of the entry's own file.
    What follows is shared with other operators, as a stub from elsewhere is.
    """
    first = chain.steps[0]
    for number, step in enumerate(chain.steps):
        if step.role == "stub" and _stem(step.path) != _stem(first.path):
            return
        if number == 0 or step.role in ("registration", "kernel"):
            yield step.role, step.path, step.line, step.symbol
        if number and step.role not in ("registration", "stub"):
            return


def own_step(chain: Chain) -> Step:
    """The step to change for this operator alone: the function registered to its own stub, else the one that the dispatcher
    calls. (`query.where.main_step` goes on to the function that does the work, which may be shared with others.)
    """
    own = [role for role, *_ in _own(chain)]
    kernels = [step for step in chain.steps if step.role in ("registration", "kernel")]
    return next((s for s in kernels if s.role == "kernel"), kernels[0]) if "registration" in own else chain.steps[0]


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _of_kinds(marks: Sequence[Landmark], kinds: Iterable[str]) -> Iterator[Touch]:
    for kind in kinds:
        yield from (Touch(_KINDS[kind], mark.path, mark.line, mark.text) for mark in marks if mark.kind == kind)


def _of_landmarks(reader: Reader, marks: Sequence[Landmark]) -> Iterator[Touch]:
    yield from _of_kinds(marks, ("docs", "index", "opinfo"))
    classes = dict.fromkeys([m.text.partition("(")[0] for m in marks if m.kind == "opinfo"])
    for name in dict.fromkeys([*classes, *(["OpInfo"] if classes else [])]):
        yield from _tests(reader.landmarks(name))
    yield from _of_kinds(marks, ("decomposition", "reference", "compatibility"))


def _tests(marks: Sequence[Landmark]) -> Iterator[Touch]:
    """The test files over one class of OpInfos, those with the most tests first."""
    found = sorted((m for m in marks if m.kind == "tests"), key=lambda m: (-int(m.text.partition(" ")[0]), m.path))
    for mark in found[:_EVERY_TEST]:
        yield Touch("tests", mark.path, mark.line, mark.text, words=True)


class LayerCount:
    """Counts, operator by operator, on how many operators each layer above the backends acts."""

    def __init__(self) -> None:
        self._own: Counter[str] = Counter()
        self._fallbacks: dict[str, tuple[str, Location]] = {}
        self._order: dict[str, None] = {}

    def look(self, op: Operator) -> None:
        """Count the layers of one operator."""
        for layer in op.layers:
            self._order.setdefault(layer.key)
            if "fallback" not in layer.outcome and layer.acts:
                self._own[layer.key] += 1
            elif layer.place and "fallback" in layer.outcome:
                self._fallbacks.setdefault(layer.key, (layer.outcome, layer.place))

    def touches(self) -> tuple[Touch, ...]:
        """The layers from the outermost in, each with the number of operators that have a kernel of their own there."""
        return tuple(self._touch(key) for key in self._order)

    def _touch(self, key: str) -> Touch:
        outcome, place = self._fallbacks.get(key, ("", None))
        own = self._own[key]
        acts = f"{own:,} operator{'s' * (own != 1)}" if own else ""
        rest = {"": "", "fallthrough backend fallback": "lets {} through"}.get(outcome, "one boxed function for {}")
        said = "; ".join(filter(None, (acts, rest.format("the others" if acts else "all operators"))))
        return Touch(key, place.path if place else "c10/core/DispatchKey.h", place.line if place else 0, said, words=True)


def commands(reader: Reader, purpose: str = "") -> tuple[Touch, ...]:
    """The commands that set up, build, test and lint, as CONTRIBUTING.md of this release gives them, each with its heading there."""
    wanted = _PURPOSES.get(purpose)
    marks = sorted((m for m in reader.landmarks() if m.kind == "command"), key=lambda m: m.line)
    found: dict[str, Touch] = {}
    for mark in marks:
        if wanted is None or wanted.search(mark.text):
            found.setdefault(mark.text, Touch(mark.subject, mark.path, mark.line, mark.text))
    return tuple(found.values())


def reading(reader: Reader, places: Iterable[tuple[str, int]], scanned: dict[str, int]) -> tuple[Reading, ...]:
    """The files to read, in the order given, with length, age, operators and owners. `scanned`: the lines of the files that were read."""
    marks = reader.landmarks()
    owners = Owners(mark for mark in marks if mark.kind == "owner")
    lengths = {mark.path: mark.line for mark in marks if mark.kind == "length"} | scanned
    known = reader.paths()
    return tuple(_reading(reader, path, line, lengths, known, owners) for path, line in places)


def _reading(reader: Reader, path: str, line: int, lengths: dict[str, int], known: frozenset[str], owners: Owners) -> Reading:
    if path not in known and path not in lengths:
        return Reading(path, missing=f"there is no {path}")
    dates = reader.file_dates(path)
    rule = owners.of(path)
    operators = reader.living(path) if path in lengths else 0
    return Reading(
        path, lengths.get(path, 0), operators, (dates and dates.born) or "", (dates and dates.changed) or "",
        Touch("owners", rule.path, rule.line, rule.text) if rule else None, line,
    )  # fmt: skip
