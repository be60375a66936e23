# SPDX-License-Identifier: BSD-3-Clause
"""All places that a change of an operator touches, and the commands of the repository's own CONTRIBUTING."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from cartographer.model.operator import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cartographer.model.atlas import Landmark
    from cartographer.model.operator import Operator
    from cartographer.store.reader import Reader


@dataclass(frozen=True, slots=True)
class Touch:
    """One place to touch: what it is, where, and what stands there."""

    what: str
    path: str
    line: int
    text: str = ""


_KINDS = {
    "docs": "documentation", "opinfo": "OpInfo for tests", "decomposition": "decomposition", "reference": "Python reference",
    "meta": "meta function in Python", "compatibility": "compatibility list",
}  # fmt: skip
_LEAST_BACKENDS = ("CPU", "CUDA", "MPS", "Meta", "SparseCPU", "QuantizedCPU", "MkldnnCPU", "NestedTensorCPU")


def touches(reader: Reader, overloads: Iterable[Operator]) -> tuple[Touch, ...]:
    """In the order in which one would go through them: declaration, kernels, derivative, bindings, docs, tests, owners."""
    overloads = tuple(overloads)
    found = dict.fromkeys(_of_overloads(overloads))
    if overloads:
        for mark in reader.landmarks(f"{overloads[0].namespace}::{overloads[0].base}"):
            found[Touch(_KINDS.get(mark.kind, mark.kind), mark.path, mark.line, mark.text)] = None
        owners = [m for m in reader.landmarks() if m.kind == "owner"]
        for path in dict.fromkeys(touch.path for touch in found):
            if (rule := owner_of(path, owners)) is not None:
                found[Touch("owners", rule.path, rule.line, f"{rule.subject} {rule.text}")] = None
    return tuple(found)


def _of_overloads(overloads: tuple[Operator, ...]) -> Iterator[Touch]:
    for op in overloads:
        yield Touch("yaml row", op.declared.path, op.declared.line, op.name.partition("::")[2])
    for key in _LEAST_BACKENDS:
        for op in overloads:
            chain = op.kernels.get(key)
            if chain is None or chain.status is not Status.RESOLVED or op.dispatch.get(key) != "kernel":
                continue
            steps = [s for s in chain.steps if s.role in ("entry", "registration", "kernel")]
            for step in steps[:3]:
                yield Touch(f"{key} {step.role}", step.path, step.line, step.symbol)
    for op in overloads:
        if op.autograd and op.autograd.formula:
            yield Touch("derivative", op.autograd.formula.path, op.autograd.formula.line, ", ".join(op.autograd.nodes))
        for binding in op.bindings:
            if binding.place:
                yield Touch("hand-written binding", binding.place.path, binding.place.line, binding.python)


def owner_of(path: str, rules: Iterable[Landmark]) -> Landmark | None:
    """The rule of CODEOWNERS that decides: the last one that matches, as GitHub reads the file."""
    decisive = None
    for rule in sorted(rules, key=lambda r: r.line):
        if _matches(path, rule.subject):
            decisive = rule
    return decisive


def _matches(path: str, pattern: str) -> bool:
    anchored = pattern.startswith("/")
    bare = pattern.strip("/")
    for candidate in (path,) if anchored else (path, *_tails(path)):
        if candidate == bare or candidate.startswith(f"{bare}/") or fnmatchcase(candidate, bare) or fnmatchcase(candidate, f"{bare}/*"):
            return True
    return False


def _tails(path: str) -> Iterator[str]:
    parts = path.split("/")
    for start in range(1, len(parts)):
        yield "/".join(parts[start:])


def commands(reader: Reader) -> tuple[Touch, ...]:
    """Commands that build, test and lint, as CONTRIBUTING.md gives them at this tag."""
    return tuple(Touch("command", m.path, m.line, m.text) for m in reader.landmarks("") if m.kind == "command")
