# SPDX-License-Identifier: BSD-3-Clause
"""Compares an operator's kernels in two atlases: functions that moved, functions whose code changed, and chains that lead elsewhere."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from cartographer.compare.bodies import ROLES, WRITERS, difference
from cartographer.model.change import Change, ChangePlace, Level
from cartographer.model.operator import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping

    from cartographer.model.compared import ComparedOperator
    from cartographer.model.operator import Chain, Step

    Bodies = Mapping[str, Mapping[int, bytes]]

_WAY = ("entry", "stub", "kernel", "device", "library")
_LAMBDA = "lambda"
_HEAD = re.compile(r"TORCH_(?:IMPL|META)_FUNC2?\(([\w, ]+)\)|structured_(\w+)::(?:impl|meta)$")
_SYMINT = re.compile(r"_symint(?=_|$)")
_ARGUMENTS = re.compile(r"<.*>")


def kernel_changes(
    was: ComparedOperator, now: ComparedOperator, old: Bodies, new: Bodies, told: Container[tuple[str, str]] = (), *, ways: bool = True,
) -> Iterator[Change]:
    """The changes of an operator's kernels; one that is equal for several backends is one change. `told`: (operator, backend) of kernels that
    were added, removed or renamed, which are reported already; `ways`: whether both sides can show every function on the way.
    """
    pairs: dict[tuple[int, int], tuple[Chain, Chain, list[str]]] = {}
    for backend in was.chains:
        if backend not in now.chains or (now.name, backend) in told:
            continue
        before, after = was.chains[backend], now.chains[backend]
        if before.status is Status.RESOLVED is after.status and not _alike(before, after, old, new):
            pairs.setdefault((id(before), id(after)), (before, after, []))[2].append(backend)
    found: dict[tuple[object, ...], tuple[Change, list[str]]] = {}
    for before, after, backends in pairs.values():
        for change in (*_functions(now.name, before, after, old, new, ways=ways), *(_ways(now.name, before, after) if ways else ())):
            found.setdefault((change.id, change.old, change.new, change.places), (change, []))[1].extend(backends)
    for change, backends in found.values():
        keys = sorted(set(backends))
        detail = {**change.detail, "key": keys[0], "keys": keys}
        yield Change(change.id, change.level, change.op, f"{change.reason} ({', '.join(keys)})", change.old, change.new, detail, change.places, fold=change.fold)


def _alike(before: Chain, after: Chain, old: Bodies, new: Bodies) -> bool:
    """Whether two ways are the same to the line, and so is the code of all that they pass: most are, in releases that are near."""
    return before.steps == after.steps and all(old.get(s.path, {}).get(s.line) == new.get(s.path, {}).get(s.line) for s in before.steps)


@lru_cache(maxsize=65536)
def plain(symbol: str) -> str:
    """A function's name without namespaces and wrappers: `add_out` of `at::native::structured_add_out::impl`, `TORCH_IMPL_FUNC(add_out)`, `add_out_symint`."""
    head = _HEAD.search(symbol)
    name = "_".join(next((part for part in head.groups() if part), "").split(", ")) if head else _ARGUMENTS.sub("", symbol).rpartition("::")[2]
    return _SYMINT.sub("", name)


@lru_cache(maxsize=65536)
def whole(symbol: str) -> str:
    """A function's name with the classes and namespaces around it, but without wrappers and template arguments."""
    around = _ARGUMENTS.sub("", symbol).rpartition("::")[0]
    if _HEAD.search(symbol) is not None:
        around = "meta" if symbol.startswith("TORCH_META") or symbol.endswith("::meta") else "impl"
    return f"{around}::{plain(symbol)}"


def _is_written(step: Step) -> bool:
    return step.path.startswith(WRITERS)


def _main(chain: Chain) -> Step | None:
    return next((step for role in ("kernel", "entry") for step in chain.steps if step.role == role), None)


def _functions(op: str, before: Chain, after: Chain, old: Bodies, new: Bodies, *, ways: bool) -> Iterator[Change]:
    """Functions that both ways pass, and whether the build writes the kernel."""
    a, b = _main(before), _main(after)
    if a is None or b is None:
        return
    if ways and _is_written(a) != _is_written(b):
        word = "the build writes the kernel now" if _is_written(b) else "the build wrote the kernel, a function of the tree serves now"
        yield Change("kernel-moved", Level.INFO, op, word, a.path, b.path, {}, _places(a, b), fold=word)
        return
    for former, step in _paired(before, after):
        yield from _one(op, former, step, old, new)


def _paired(before: Chain, after: Chain) -> Iterator[tuple[Step, Step]]:
    """The functions that both ways pass: of the same whole name as often on both sides, else the only ones of a name in one role and language."""
    sides = [_named(chain, lambda step: whole(step.symbol)) for chain in (before, after)]
    common = [name for name in sides[0] if name in sides[1]]
    for name in common:
        if len(sides[0][name]) == len(sides[1][name]):
            yield from zip(sides[0][name], sides[1][name], strict=True)
    rest = [_named(chain, _own_name, without=common) for chain in (before, after)]
    for name in rest[0]:
        if name and len(rest[0][name]) == len(rest[1].get(name, ())) == 1:
            yield rest[0][name][0], rest[1][name][0]


def _own_name(step: Step) -> str:
    """Its own name with its role and language; "" for `operator()`, which is no name, and for what Meta runs."""
    name = plain(step.symbol)
    return f"{name} {step.role} {step.path.rpartition('.')[2]}" if name.isidentifier() and not whole(step.symbol).startswith("meta::") else ""


def _named(chain: Chain, spelled: Callable[[Step], str], without: Container[str] = ()) -> dict[str, list[Step]]:
    """The functions of a chain by name, each place once, in the order of places."""
    found: dict[str, list[Step]] = {}
    for step in sorted({(s.path, s.line): s for s in reversed(chain.steps) if _is_code(s)}.values(), key=lambda s: (s.path, s.line)):
        if whole(step.symbol) not in without:
            found.setdefault(spelled(step), []).append(step)
    return found


def _is_code(step: Step) -> bool:
    return step.role in ROLES and step.symbol != _LAMBDA and not _is_written(step)


def _one(op: str, former: Step, step: Step, old: Bodies, new: Bodies) -> Iterator[Change]:
    name, places = plain(step.symbol), _places(former, step)
    if former.path != step.path:
        yield Change("kernel-moved", Level.INFO, op, f"{name} stands in another file", former.path, step.path, {"function": name}, places,
                     fold=f"{name} moved from {former.path} to {step.path}")
    code, code_now = old.get(former.path, {}).get(former.line), new.get(step.path, {}).get(step.line)
    if code is None or code_now is None or code == code_now:
        return
    gone, come = difference(code, code_now)
    if not gone and not come:  # other lines, the same statements
        return
    yield Change("kernel-code-changed", Level.INFO, op, f"the code of {name} changed, -{gone} +{come} lines", f"{former.path}:{former.line}", f"{step.path}:{step.line}",
                 {"function": name, "removed": gone, "added": come}, places, fold=f"the code of {name} in {step.path} changed, -{gone} +{come} lines")


def _ways(op: str, before: Chain, after: Chain) -> Iterator[Change]:
    """Another function at the end, or other functions on the way to it."""
    a, b = _main(before), _main(after)
    way, way_now = _way(before), _way(after)
    if a is None or b is None or set(way) == set(way_now) or (_is_written(a) != _is_written(b)):
        return
    same = plain(b.symbol) in way or plain(a.symbol) in way_now
    reason = "another way leads to the kernel" if same else "another function serves it"
    gone, come = ([n for n in one if n not in other] for one, other in ((way, way_now), (way_now, way)))
    fold = f"{' → '.join(gone)} became {' → '.join(come)}" if gone and come else f"it no longer passes {' → '.join(gone)}" if gone else f"it passes {' → '.join(come)}"
    yield Change("chain-changed", Level.INFO, op, reason, " → ".join(way), " → ".join(way_now), {}, _places(a, b), fold=fold)


def _way(chain: Chain) -> tuple[str, ...]:
    names = (plain(step.symbol) for step in chain.steps if step.role in _WAY and step.symbol != _LAMBDA)
    return tuple(dict.fromkeys(names))


def _places(old: Step, new: Step) -> tuple[ChangePlace, ...]:
    return tuple(ChangePlace(side, step.path, step.line) for side, step in (("old", old), ("new", new)) if step.path)
