# SPDX-License-Identifier: BSD-3-Clause
"""What only two whole atlases can tell: kernels that moved or changed, bindings, what serves a backend, Nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.model.change import Change, ChangePlace, Level
from cartographer.model.operator import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cartographer.model.operator import Chain, Operator, Step

_BODY_ROLES = ("kernel", "entry")


def atlas_changes(old: Iterable[Operator], new: Iterable[Operator]) -> tuple[Change, ...]:
    """The changes of operators that both atlases have."""
    before = {op.name: op for op in old}
    changes: list[Change] = []
    for now in new:
        if (was := before.get(now.name)) is not None:
            changes += (*_bindings(was, now), *_served(was, now), *_kernels(was, now), *_nodes(was, now))
    return tuple(changes)


def _bindings(was: Operator, now: Operator) -> Iterator[Change]:
    before = {b.python: b for b in was.bindings if not b.deprecated}
    after = {b.python: b for b in now.bindings if not b.deprecated}
    for name in sorted(after.keys() - before.keys()):
        yield Change("binding-gained", Level.INFO, now.name, f"{name} reaches it now", new=name, detail={"python": name})
    for name in sorted(before.keys() - after.keys()):
        yield Change("binding-lost", Level.BREAK, now.name, f"{name} no longer reaches it", old=name, detail={"python": name})
    for name in sorted(before.keys() & after.keys()):
        a, b = before[name], after[name]
        if (a.function, _unsharded(a.file)) != (b.function, _unsharded(b.file)):
            reason = f"{name} is bound in another file or by another function"
            yield Change("binding-moved", Level.INFO, now.name, reason, f"{a.function} {a.file}", f"{b.function} {b.file}", {"python": name})


def _unsharded(file: str) -> str:
    stem, dot, suffix = file.rpartition(".")
    head, _, shard = stem.rpartition("_")
    return f"{head}{dot}{suffix}" if head and shard.isdigit() else file


def _served(was: Operator, now: Operator) -> Iterator[Change]:
    for key in sorted(was.dispatch.keys() & now.dispatch.keys()):
        before, after = was.dispatch[key], now.dispatch[key]
        if before != after:
            level = Level.MAYBE if after == "missing" else Level.INFO
            yield Change("served-changed", level, now.name, f"{key} is served by: {after}, it was: {before}", before, after, {"key": key})


def _kernels(was: Operator, now: Operator) -> Iterator[Change]:
    for key in sorted(was.kernels.keys() & now.kernels.keys()):
        old, new = was.kernels[key], now.kernels[key]
        if old.status is not Status.RESOLVED or new.status is not Status.RESOLVED:
            continue
        a, b = _main(old), _main(new)
        if a is None or b is None:
            continue
        places = tuple(ChangePlace(side, step.path, step.line) for side, step in (("old", a), ("new", b)) if step.path)
        if a.path != b.path:
            yield Change("kernel-moved", Level.INFO, now.name, f"the {key} kernel stands in another file", a.path, b.path, {"key": key}, places)
        elif _shape(old) != _shape(new):
            yield Change("chain-changed", Level.INFO, now.name, f"another way leads to the {key} kernel", " → ".join(_shape(old)),
                         " → ".join(_shape(new)), {"key": key}, places)


def _main(chain: Chain) -> Step | None:
    return next((step for role in _BODY_ROLES for step in chain.steps if step.role == role), None)


def _shape(chain: Chain) -> tuple[str, ...]:
    return tuple(step.symbol for step in chain.steps if step.role != "calls")


def _nodes(was: Operator, now: Operator) -> Iterator[Change]:
    before, after = (set(op.autograd.nodes) if op.autograd else set() for op in (was, now))
    if before and after and before != after:
        reason = "grad_fn has another name: code that asks for it by name sees the new one"
        yield Change("node-renamed", Level.MAYBE, now.name, reason, ", ".join(sorted(before)), ", ".join(sorted(after)))
