# SPDX-License-Identifier: BSD-3-Clause
"""Compares what only whole atlases contain: kernels that moved or changed, bindings, what serves a backend, Nodes, callers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from cartographer.compare.kernels import kernel_changes
from cartographer.compare.operators import in_order
from cartographer.model.change import Change, Level
from cartographer.model.source import Availability

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cartographer.model.change import Comparison
    from cartographer.model.compared import ComparedAtlas, ComparedOperator

# What serves a key where nobody registered anything for the operator (aten/src/ATen/core/dispatch/OperatorEntry.cpp).
_FALLBACKS = frozenset(("backend fallback", "fallthrough backend fallback", "missing"))
_NOT_TOLD = Availability.NOT_SHIPPED.value  # what serves a key, as the atlas of a wheel has it
_NODE = re.compile(r"Autograd\w+?(?=\d+)|\d+")
_SHOWN = 6


_NO_CODE = "one of the atlases holds no code of kernels: whether it changed is not told; build it again, from a tree or a clone"


def with_atlases(found: Comparison, old: ComparedAtlas, new: ComparedAtlas) -> Comparison:
    """Add to a comparison of operator lists what the atlases of both sides tell beyond them."""
    changes = with_callers((*found.changes, *atlas_changes(old, new, found.changes)), old, new)
    notes = () if old.bodies and new.bodies else (_NO_CODE,)
    return in_order(replace(found, changes=changes, notes=(*found.notes, *_of_wheels(found, old, new), *notes)))


def _of_wheels(found: Comparison, old: ComparedAtlas, new: ComparedAtlas) -> Iterator[str]:
    """What is not compared because a wheel holds no C++ code."""
    wheels = [version for version, side in ((found.old, old), (found.new, new)) if side.wheel]
    if wheels:
        read = " was read from a wheel, which holds" if len(wheels) == 1 else " were read from wheels, which hold"
        yield f"{' and '.join(wheels)}{read} no C++ code: Python names bound by hand, layers registered in C++, and C++ kernels are not compared"


def atlas_changes(old: ComparedAtlas, new: ComparedAtlas, told: Iterable[Change] = ()) -> tuple[Change, ...]:
    """The changes of operators that both atlases have. `told`: the changes that the operator lists gave; they are not repeated."""
    known = {(c.op, str(c.detail.get("key"))) for c in told if c.id.startswith(("dispatch-", "effective-"))}
    backends = frozenset(key for side in (old, new) for operator in side.operators.values() for key in operator.chains)
    alike = old.wheel is new.wheel  # else what the one alone can tell would read as a change
    changes: list[Change] = []
    for name, now in new.operators.items():
        if (was := old.operators.get(name)) is not None:
            changes += (*_bindings(was, now, by_hand=alike), *(_served(was, now, known, backends) if alike else ()),
                        *kernel_changes(was, now, old.bodies, new.bodies, known, ways=alike), *_nodes(was, now))  # fmt: skip
    return tuple(changes)


def with_callers(changes: Sequence[Change], old: ComparedAtlas, new: ComparedAtlas) -> tuple[Change, ...]:
    """Add, to each change of level break or maybe, the operators whose code calls the operator, on the side that still has it."""
    found = []
    for change in changes:
        side = new if change.op in new.operators else old
        operator = side.operators.get(change.op)
        callers = [name for name in operator.callers if name != change.op] if operator is not None else []
        found.append(replace(change, detail={**change.detail, "callers": callers}) if change.level > Level.INFO else change)
    return tuple(found)


def _bindings(was: ComparedOperator, now: ComparedOperator, *, by_hand: bool) -> Iterator[Change]:
    """Python names; those that a checked-in file binds only where both sides can have it (`by_hand`)."""
    old, new = ({n: where for n, where in side.bindings.items() if by_hand or "/" not in where[1]} for side in (was, now))
    for name in sorted(new.keys() - was.bindings.keys()):
        yield Change("binding-gained", Level.INFO, now.name, f"{name} reaches it now", new=name, detail={"python": name})
    for name in sorted(old.keys() - now.bindings.keys()):
        yield Change("binding-lost", Level.BREAK, now.name, f"{name} no longer reaches it", old=name, detail={"python": name})
    for name in sorted(old.keys() & new.keys()):
        (function, file), (function_now, file_now) = old[name], new[name]
        if (function, _unsharded(file)) != (function_now, _unsharded(file_now)):
            what = "another function" if function != function_now else "another file"
            yield Change("binding-moved", Level.INFO, now.name, f"{name} is bound in {what}", f"{function} {file}", f"{function_now} {file_now}", {"python": name})


def _unsharded(file: str) -> str:
    """`python_torch_functions_1.cpp` is one of the parts of `python_torch_functions.cpp`."""
    return re.sub(r"_\d+(?=\.\w+$)", "", file)


def _served(was: ComparedOperator, now: ComparedOperator, told: set[tuple[str, str]], backends: frozenset[str]) -> Iterator[Change]:
    """One change for all keys that go the same way."""
    ways: dict[tuple[str, str, bool], list[str]] = {}
    for key in sorted(was.dispatch.keys() & now.dispatch.keys()):
        before, after = was.dispatch[key], now.dispatch[key]
        if before != after and _NOT_TOLD not in (before, after) and (now.name, key) not in told:
            ways.setdefault((before, after, key in backends), []).append(key)
    for (before, after, backend), keys in ways.items():
        shown = ", ".join(keys[:_SHOWN]) + (f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else "")
        reason = f"{shown}: {after}, it was {before}" if after != "missing" else f"{shown}: nothing serves it any more, {before} did"
        fold = ""
        if {before, after} <= _FALLBACKS:
            fold = f"{shown}: the key's own fallback is another ({after}, it was {before}), nothing of the operator"
        elif not backend:
            fold = f"{shown}, no backends that chains are followed for: {after}, it was {before}"
        level = Level.MAYBE if after == "missing" and backend and not fold else Level.INFO
        yield Change("served-changed", level, now.name, reason, before, after, {"key": keys[0], "keys": keys}, fold=fold)


def _nodes(was: ComparedOperator, now: ComparedOperator) -> Iterator[Change]:
    gone, come = sorted(set(was.nodes) - set(now.nodes)), sorted(set(now.nodes) - set(was.nodes))
    if not was.nodes or not now.nodes or not (gone or come):
        return
    texts = ", ".join(was.nodes), ", ".join(now.nodes)
    if not gone:
        yield Change("node-gained", Level.INFO, now.name, f"grad_fn can be {', '.join(come)} too", *texts, {"gained": come})
        return
    numbered = {_NODE.sub("", name) for name in gone} == {_NODE.sub("", name) for name in come}
    reason = "grad_fn has another number: rows of derivatives.yaml came or went before it" if numbered else "grad_fn has another name"
    yield Change("node-renamed", Level.MAYBE, now.name, f"{reason}; code that asks for it by name sees the new one", *texts, {"lost": gone, "gained": come})
