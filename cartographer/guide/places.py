# SPDX-License-Identifier: BSD-3-Clause
"""Finds all places that a change of an operator touches, the files to read for it, and the commands of the repository's own CONTRIBUTING."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cartographer.guide.owners import Owners
from cartographer.guide.suites import suites
from cartographer.model.atlas import COMMANDS
from cartographer.model.backend import MAIN, in_order
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
    "meta": "meta function", "override": "override", "docs": "documentation", "index": "index of the docs", "opinfo": "OpInfo", "tests": "tests",
    "named": "tests, by name", "decomposition": "decomposition", "decompositions": "decompositions, a list", "lowering": "lowering of inductor", "sharding": "strategy of DTensor",
    "reference": "Python reference", "compatibility": "exempt from the schema check",
}  # fmt: skip
NOT_ALL = (
    "This is what the source tells for certain. It is not all: tests under other names, callers, registrations that Python makes in a loop over "
    "names that it puts together, and backends outside the tree are not told."
)
_COMPOSITE = {
    "math kernel": "composite kernel (implicit)", "default backend kernel": "composite kernel (explicit)", "catch all": "kernel for all backends",
}  # fmt: skip
_DEEP = 3  # operators that do nothing but call one another
_FEW = 4  # files of tests that a short list names; the rest is counted


def touches(reader: Reader, overloads: Iterable[Operator], *, short: bool = False) -> tuple[Touch, ...]:
    """The places in the order in which one would go through them: declaration, kernels (of the operator that is called, where a kernel does
    nothing else), derivative, bindings, docs, tests, owners.

    Those of the variant that works in place are among them: it is the same function. A place that several overloads or backends
    share is listed once, with everything that it is. `short`: of the files of tests, only the first.
    """
    overloads = _with_variant(reader, tuple(overloads))
    found: dict[tuple[str, int], Touch] = {}
    marks = [mark for subject in dict.fromkeys(f"{op.namespace}::{op.base}" for op in overloads) for mark in reader.landmarks(subject)]
    for touch in (
        *_kernels(overloads), *_called(reader, overloads), *_registrations(overloads), *_of_kinds(marks, ("meta",)), *_gradients_and_bindings(overloads),
        *_of_landmarks(reader, marks, short=short),
    ):  # fmt: skip
        known = found.get((touch.path, touch.line))
        found[touch.path, touch.line] = replace(known, what=_joined(known.what, touch.what)) if known else touch
    owners = Owners(mark for mark in reader.landmarks() if mark.kind == "owner")
    for path in dict.fromkeys(touch.path for touch in tuple(found.values())):
        if (rule := owners.of(path)) is not None:
            found.setdefault((rule.path, rule.line), Touch("owners", rule.path, rule.line, f"{rule.subject} {rule.text}"))
    return tuple(found.values())


def _with_variant(reader: Reader, overloads: tuple[Operator, ...]) -> tuple[Operator, ...]:
    """The overloads, and those of the variant in place: torchgen tells it by the underscore behind its name."""
    if not overloads or overloads[0].base.endswith("__"):
        return overloads
    base = overloads[0].base
    return *overloads, *reader.group(base[:-1] if base.endswith("_") else f"{base}_", overloads[0].namespace)


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


def _registrations(overloads: tuple[Operator, ...]) -> Iterator[Touch]:
    """The lines that name the operator for one key: backends beside the yaml, autocast, names, the batch rules of functorch."""
    for op in overloads:
        for registered in op.registrations:
            if registered.place is not None and registered.active:
                what = "batch rule" if registered.key.startswith("FuncTorchBatched") else f"{registered.key} registration"
                yield Touch(what, registered.place.path, registered.place.line, op.name.partition("::")[2])


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
        yield from (Touch(f"{key} {step.role}", step.path, step.line, step.symbol) for step in _own(chain))
    elif served in _COMPOSITE and key in ("CPU", "Meta"):
        yield Touch(_COMPOSITE[served], chain.steps[0].path, chain.steps[0].line, chain.steps[0].symbol)


def _called(reader: Reader, overloads: tuple[Operator, ...]) -> Iterator[Touch]:
    """Of a kernel that calls one operator and does nothing else that would be known of, as that of `index_put_`: the call, and the own kernels
    of what it calls, on backends for which it does so.
    """
    known = {op.name for op in overloads}
    for op in overloads:
        at = only_call(op)
        for _ in range(_DEEP):
            if at is None or at[1] in known:
                break
            step, name = at
            known.add(name)
            other = next((o for o in reader.group(name.partition("::")[2].partition(".")[0], name.partition("::")[0]) if o.name == name), None)
            if other is None:
                break
            yield Touch("calls", step.path, step.line, name.partition("::")[2])
            for key in in_order(other.kernels):
                if key != "Meta" and op.dispatch.get(key) in _COMPOSITE and other.dispatch.get(key) == "kernel":
                    yield from (replace(touch, what=f"{key} called") for touch in _of_backend(other, key))
            at = only_call(other)


def only_call(op: Operator) -> tuple[Step, str] | None:
    """The one operator that a kernel for several backends calls, where it calls no other and runs no code of its own; and the step that calls it."""
    key = next((key for key in in_order(op.kernels) if op.dispatch.get(key) in _COMPOSITE and op.kernels[key].steps), None)
    if key is None or op.origin is Origin.GENERATED:
        return None
    rest = op.kernels[key].steps[1:]
    own = rest[: next((place for place, step in enumerate(rest) if step.role == "entry"), len(rest))]
    called = {step.note.partition(";")[0] for step in own}
    if not own or any(step.role != "calls" for step in own) or len(called) > 1:
        return None
    name = called.pop()
    return (own[0], name) if "::" in name and " " not in name else None


def made_of_several(overloads: Iterable[Operator]) -> str:
    """The first overload that is made of several operators on one of the main backends, where no place of theirs is listed (`where --deep` follows
    them); "" for none.
    """
    for op in overloads:
        key = next((key for key in MAIN if key in op.kernels and op.dispatch.get(key) in _COMPOSITE), "")
        if key and op.origin is not Origin.GENERATED and any(step.role == "calls" for step in op.kernels[key].steps) and only_call(op) is None:
            return op.name
    return ""


def _own(chain: Chain) -> Iterator[Step]:
    """The steps that belong to the operator: its entry, the next function, and the kernel behind a stub of the entry's own file, also
    where functions of that file, or libraries and operators that are called before, stand between. What follows is shared with other
    operators, as a stub from elsewhere is, or is another one's, behind its own entry.
    """
    first, helped, registered = chain.steps[0], False, False
    yield first
    for step in chain.steps[1:]:
        at_home = _stem(step.path) == _stem(first.path)
        if step.role == "registration":
            registered = True
            yield step
        elif step.role == "kernel":
            if registered or not helped:
                yield step
            if registered or not at_home:
                return
            helped = True
        elif step.role not in ("stub", "library", "calls") or (step.role == "stub" and not at_home):
            return


def own_roles(chain: Chain) -> tuple[str, ...]:
    """The parts that an operator's own steps play: "registration" is among them when it has a stub of its own."""
    return tuple(step.role for step in _own(chain)) if chain.steps else ()


def own_step(chain: Chain) -> Step:
    """The step to change for this operator alone: the function registered to its own stub, else the one that the dispatcher
    calls. (`query.where.main_step` goes on to the function that does the work, which may be shared with others.)
    """
    own = tuple(_own(chain))
    return own[-1] if any(step.role == "registration" for step in own) else own[0]


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _of_kinds(marks: Sequence[Landmark], kinds: Iterable[str]) -> Iterator[Touch]:
    for kind in kinds:
        yield from (Touch(_KINDS[kind], mark.path, mark.line, mark.text) for mark in marks if mark.kind == kind)


def _of_landmarks(reader: Reader, marks: Sequence[Landmark], *, short: bool) -> Iterator[Touch]:
    yield from _of_kinds(marks, ("override", "docs", "index", "opinfo"))
    yield from _tests(reader, marks, short=short)
    yield from _of_kinds(marks, ("decomposition", "decompositions", "lowering", "sharding", "reference", "compatibility"))


def _tests(reader: Reader, marks: Sequence[Landmark], *, short: bool) -> Iterator[Touch]:
    """The files of tests that run over the operator, and those that may; then tests that are called as it is."""
    every, some = suites(reader.landmarks, marks)
    named = [mark for mark in marks if mark.kind == "named"]
    for kind, found, more in (("tests", every, "over every OpInfo"), ("named", named, "with a test of that name")):
        shown = found[:_FEW] if short and len(found) > _FEW + 1 else found
        for number, mark in enumerate(shown, 1):
            rest = f"; {len(found) - number} more files {more}" if number == len(shown) < len(found) else ""
            yield Touch(_KINDS[kind], mark.path, mark.line, mark.text + rest, words=kind == "tests")
        if kind == "tests" and some:
            rest = f"; {len(some) - 1} more file{'s' * (len(some) > 2)} like it" if len(some) > 1 else ""
            yield Touch("tests, perhaps", some[0].path, some[0].line, some[0].text + rest, words=True)


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
    """The commands that set up, build, test and lint, as this release gives them, each with its heading there."""
    found: dict[str, Touch] = {}
    for mark in sorted((m for m in reader.landmarks() if m.kind in COMMANDS), key=lambda m: (m.path != "README.md", m.line)):
        if purpose in ("", mark.kind):
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
