# SPDX-License-Identifier: BSD-3-Clause
"""Answers `where` below a body: an operator without a kernel of its own is followed through the operators that its body calls, in short or whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.errors import NotFound
from cartographer.model.backend import MAIN, dense_key
from cartographer.query import spelling
from cartographer.query.where import main_step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.model.operator import Chain, Step
    from cartographer.query.ink import Ink
    from cartographer.query.where import Descent
    from cartographer.store.operator_reader import Routes
    from cartographer.store.reader import Reader

_DEPTH = 3
_BRIEF = 6  # lines for each backend where not all are asked for
# What the dispatcher calls an operator without a kernel of its own for a key; a kernel of its own ends the search.
_COMPOSED = frozenset(("math kernel", "catch all", "default backend kernel"))


@dataclass(frozen=True, slots=True)
class Called:
    """An operator that a body calls, with its own way down. When the overload of a call cannot be told, there is one for each candidate."""

    call: Step
    name: str
    chain: Chain | None  # None: this operator has no chain on the backend
    calls: tuple[Called, ...] = ()
    seen: bool = False  # followed elsewhere
    key: str = ""  # of the tensors that it is called with
    on: str = ""  # the same, where it is not the key of the caller for certain

    @property
    def main(self) -> Step | None:
        """The step to open first, as `where.main_step` chooses it; None when there is no chain."""
        return main_step(self.chain.steps) if self.chain else None


@dataclass(slots=True)
class _Open:
    """A call whose own calls are not known yet."""

    call: Step
    name: str
    chain: Chain | None
    composed: bool
    seen: bool
    calls: list[_Open]
    key: str
    on: str

    def closed(self) -> Called:
        return Called(self.call, self.name, self.chain, tuple(found.closed() for found in self.calls), self.seen, self.key, self.on)


def follow(reader: Reader, chain: Chain, backend: str) -> tuple[Called, ...]:
    """The operators that a chain calls on one backend, and those that they call, down to kernels.

    Goes level by level, so that an operator is followed where it is nearest; in other places it is marked as `seen`.
    """
    seen: set[tuple[str, str]] = set()
    first = level = _calls(reader, chain, backend, seen)
    for _ in range(_DEPTH):
        below: list[_Open] = []
        for found in level:
            if found.chain and found.composed and not found.seen:
                found.calls = _calls(reader, found.chain, found.key, seen)
                below.extend(found.calls)
        level = below
    return tuple(found.closed() for found in first)


def _calls(reader: Reader, chain: Chain, backend: str, seen: set[tuple[str, str]]) -> list[_Open]:
    found = []
    here = backend
    for step in chain.steps:
        here = _sent_to(step) or here
        for name in _names(reader, step) if step.role == "calls" else ():
            try:
                routes = reader.routes(name)
            except NotFound:
                continue
            keys = _keys(routes, chain, here)
            for key in keys:
                composed, on = routes.dispatch.get(key) in _COMPOSED, "" if keys == (backend,) else key
                found.append(_Open(step, name, routes.kernels.get(key), composed, (name, key) in seen, [], key, on))
                seen.add((name, key))
    return found


def _sent_to(step: Step) -> str:
    """The key to which a kernel sent the operator on, where this step is its entry there (`of aten::x; on CPU`): what follows runs on its tensors."""
    parts = step.note.split("; ") if step.role == "entry" else []
    return next((part.removeprefix("on ") for part in parts if part.startswith("on ") and part.removeprefix("on ").isidentifier()), "")


def _keys(routes: Routes, caller: Chain, backend: str) -> tuple[str, ...]:
    """The keys of the tensors with which an operator may be called. A kernel for sparse or nested tensors mostly works on their dense parts:
    where the operator has a kernel for these and another for those, both are told; what would enter the caller again is called with dense ones.
    """
    dense = dense_key(backend)
    own, other = routes.kernels.get(backend), routes.kernels.get(dense)
    if own is None or other is None or not own.steps or not other.steps or own.steps[0] == other.steps[0] or other.only_raises:
        return (backend,)
    if caller.steps and _place(own.steps[0]) == _place(caller.steps[0]):
        return (dense,)
    return (backend, dense) if routes.dispatch.get(backend) == "kernel" else (backend,)


def _place(step: Step) -> tuple[str, int]:
    return step.path, step.line


def _names(reader: Reader, step: Step) -> tuple[str, ...]:
    """The overloads that a call may mean: as its note has them, else by the C++ name."""
    noted = tuple(name for name in spelling.operators_in(step.note) if reader.lookup.by_name(name))
    if noted:
        return noted
    symbol = f"at::{step.symbol}" if step.symbol.startswith("Tensor::") else step.symbol
    return reader.lookup.by_name(step.symbol) or reader.lookup.by_cpp(symbol)[:1]


def brief(reader: Reader, descent: Descent, ink: Ink) -> Iterator[str]:
    """Of a chain that ends in calls of operators, where those are implemented that run under no condition, and that there is more."""
    roles = {step.role for step in descent.chain.steps}
    if "calls" not in roles or roles & {"device", "library"}:
        return
    keys = [key for key in descent.backends if key in MAIN] or list(descent.backends[:1])
    more = False
    for key in keys:
        called = follow(reader, descent.chain, key)
        lines = list(_plain(called, ink, f" on {key}" if len(keys) > 1 else ""))
        yield from lines[:_BRIEF]
        more = more or len(lines) != _count(called) or len(lines) > _BRIEF
    if more:
        yield ink.faint("      # --deep follows the operators called under conditions too")


def _plain(called: tuple[Called, ...], ink: Ink, on: str, indent: int = 3) -> Iterator[str]:
    for found in called:
        if found.main is not None and not found.call.branch and not found.seen:
            yield f"{'  ' * indent}{found.name}{_on(found) or on}  {ink.place(f'{found.main.path}:{found.main.line}')}  {found.main.symbol}"
            yield from _plain(found.calls, ink, "", indent + 1)


def _on(found: Called) -> str:
    return f" on {found.on}" if found.on else ""


def _count(called: tuple[Called, ...]) -> int:
    return sum(1 + _count(found.calls) for found in called if not found.seen)


def text(called: tuple[Called, ...], ink: Ink, indent: int = 3) -> Iterator[str]:
    """The calls as a tree, a line each; what was followed elsewhere is not repeated."""
    for found in called:
        main = found.main
        if found.seen:
            continue
        if main is None:
            where = ink.faint((found.chain.reason if found.chain else None) or "no chain on this backend")
        else:
            where = f"{ink.place(f'{main.path}:{main.line}')}  {main.symbol}"
        branch = ink.faint(f"  if {found.call.branch}") if found.call.branch else ""
        yield f"{'  ' * indent}{found.name}{_on(found)}  {where}{branch}"
        yield from text(found.calls, ink, indent + 1)


def record(called: tuple[Called, ...]) -> list[dict[str, object]]:
    """The calls as a JSON value."""
    return [
        {
            "operator": found.name, "called_at": {"path": found.call.path, "line": found.call.line}, "branch": found.call.branch,
            "status": found.chain.status.value if found.chain else None, "reason": found.chain.reason if found.chain else None,
            "main": {"symbol": found.main.symbol, "path": found.main.path, "line": found.main.line} if found.main else None,
            "key": found.key, "seen": found.seen, "calls": record(found.calls),
        }
        for found in called
    ]  # fmt: skip
