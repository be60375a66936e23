# SPDX-License-Identifier: BSD-3-Clause
"""`where --deep`: an operator without a kernel of its own is followed through the operators that its body calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.errors import NotFound
from cartographer.query import spelling
from cartographer.query.where import main_step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.model.operator import Chain, Step
    from cartographer.query.ink import Ink
    from cartographer.store.reader import Reader

_DEPTH = 4
# What the dispatcher calls an operator without a kernel of its own for a key; a kernel of its own ends the search.
_COMPOSED = frozenset(("math kernel", "default backend kernel"))


@dataclass(frozen=True, slots=True)
class Called:
    """An operator that a body calls, with its own way down. Of a call whose overload is not told, each that it may be."""

    call: Step
    name: str
    chain: Chain | None  # None: this operator has no chain on the backend
    calls: tuple[Called, ...] = ()
    seen: bool = False  # shown further up already

    @property
    def main(self) -> Step | None:
        """The step to open first."""
        return main_step(self.chain.steps) if self.chain else None


def follow(reader: Reader, chain: Chain, backend: str) -> tuple[Called, ...]:
    """The operators that a chain calls on one backend, and what they call, down to kernels."""
    return _follow(reader, chain, backend, set(), 0)


def _follow(reader: Reader, chain: Chain, backend: str, seen: set[str], depth: int) -> tuple[Called, ...]:
    found = []
    for step in chain.steps:
        for name in _names(reader, step) if step.role == "calls" else ():
            repeated = name in seen
            seen.add(name)
            try:
                routes = reader.routes(name)
            except NotFound:
                continue
            below = routes.kernels.get(backend)
            follow_on = below and routes.dispatch.get(backend) in _COMPOSED and not repeated and depth < _DEPTH
            calls = _follow(reader, below, backend, seen, depth + 1) if below and follow_on else ()
            found.append(Called(step, name, below, calls, repeated))
    return tuple(found)


def _names(reader: Reader, step: Step) -> tuple[str, ...]:
    """The overloads that a call may mean: as its note has them, else by the C++ name."""
    noted = tuple(name for name in spelling.operators_in(step.note) if reader.lookup.by_name(name))
    if noted:
        return noted
    symbol = f"at::{step.symbol}" if step.symbol.startswith("Tensor::") else step.symbol
    return reader.lookup.by_name(step.symbol) or reader.lookup.by_cpp(symbol)[:1]


def text(called: tuple[Called, ...], ink: Ink, indent: int = 3) -> Iterator[str]:
    """A tree of the calls, a line each."""
    for found in called:
        main = found.main
        if found.seen:
            where = ink.faint("see above")
        elif main is None:
            where = ink.faint((found.chain.reason if found.chain else None) or "no chain on this backend")
        else:
            where = f"{ink.place(f'{main.path}:{main.line}')}  {main.symbol}"
        branch = ink.faint(f"  if {found.call.branch}") if found.call.branch else ""
        yield f"{'  ' * indent}{found.name}  {where}{branch}"
        yield from text(found.calls, ink, indent + 1)


def record(called: tuple[Called, ...]) -> list[dict[str, object]]:
    """The same for programs."""
    return [
        {
            "operator": found.name, "called_at": {"path": found.call.path, "line": found.call.line}, "branch": found.call.branch,
            "status": found.chain.status.value if found.chain else None, "reason": found.chain.reason if found.chain else None,
            "main": {"symbol": found.main.symbol, "path": found.main.path, "line": found.main.line} if found.main else None,
            "seen": found.seen, "calls": record(found.calls),
        }
        for found in called
    ]  # fmt: skip
