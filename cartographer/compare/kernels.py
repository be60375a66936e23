# SPDX-License-Identifier: BSD-3-Clause
"""An operator's kernels in two atlases: functions that moved, whose code changed, and ways that lead elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.compare.bodies import difference
from cartographer.model.change import Change, ChangePlace, Level
from cartographer.model.operator import Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cartographer.model.compared import ComparedOperator
    from cartographer.model.operator import Chain, Step

    Bodies = Mapping[str, Mapping[int, bytes]]

_CODE = ("entry", "kernel", "device")
_WAY = ("entry", "stub", "kernel", "device", "library")
_WRITERS = ("torchgen/", "tools/")  # a step that stands there is written during the build
_LAMBDA = "lambda"
_HEAD = re.compile(r"TORCH_(?:IMPL|META)_FUNC\w*\((\w+)\)|structured_(\w+)::(?:impl|meta)$")
_ARGUMENTS = re.compile(r"<.*>")


def kernel_changes(was: ComparedOperator, now: ComparedOperator, old: Bodies, new: Bodies) -> Iterator[Change]:
    """One change for all backends that it is the same for."""
    pairs: dict[tuple[int, int], tuple[Chain, Chain, list[str]]] = {}
    for backend in was.chains.keys() & now.chains.keys():
        before, after = was.chains[backend], now.chains[backend]
        if before.status is Status.RESOLVED is after.status:
            pairs.setdefault((id(before), id(after)), (before, after, []))[2].append(backend)
    found: dict[tuple[object, ...], tuple[Change, list[str]]] = {}
    for before, after, backends in pairs.values():
        for change in (*_functions(now.name, before, after, old, new), *_ways(now.name, before, after)):
            found.setdefault((change.id, change.old, change.new, change.places), (change, []))[1].extend(backends)
    for change, backends in found.values():
        keys = sorted(set(backends))
        detail = {**change.detail, "key": keys[0], "keys": keys}
        yield Change(change.id, change.level, change.op, f"{change.reason} ({', '.join(keys)})", change.old, change.new, detail, change.places, fold=change.fold)


def plain(symbol: str) -> str:
    """A function's own name: `add_out` of `at::native::structured_add_out::impl`, of `TORCH_IMPL_FUNC(add_out)`, of `add_out_symint`."""
    head = _HEAD.search(symbol)
    name = next((part for part in head.groups() if part), "") if head else _ARGUMENTS.sub("", symbol).rpartition("::")[2]
    return name.removesuffix("_symint")


def _is_written(step: Step) -> bool:
    return step.path.startswith(_WRITERS)


def _main(chain: Chain) -> Step | None:
    return next((step for role in ("kernel", "entry") for step in chain.steps if step.role == role), None)


def _functions(op: str, before: Chain, after: Chain, old: Bodies, new: Bodies) -> Iterator[Change]:
    """Functions that both ways pass, and whether the build writes the kernel."""
    a, b = _main(before), _main(after)
    if a is None or b is None:
        return
    if _is_written(a) != _is_written(b):
        word = "the build writes the kernel now" if _is_written(b) else "the build wrote the kernel, a function of the tree serves now"
        yield Change("kernel-moved", Level.INFO, op, word, a.path, b.path, {}, _places(a, b), fold=word)
        return
    known = {(plain(step.symbol), step.role): step for step in reversed(before.steps) if _is_code(step)}
    for step in {(plain(step.symbol), step.role): step for step in reversed(after.steps) if _is_code(step)}.values():
        if (former := known.get((plain(step.symbol), step.role))) is not None:
            yield from _one(op, former, step, old, new)


def _is_code(step: Step) -> bool:
    return step.role in _CODE and step.symbol != _LAMBDA and not _is_written(step)


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
    if a is None or b is None or way == way_now or (_is_written(a) != _is_written(b)):
        return
    same = plain(b.symbol) in way or plain(a.symbol) in way_now
    reason = "another way leads to the kernel" if same else "another function serves it"
    fold = f"{' → '.join(n for n in way if n not in way_now) or 'fewer functions'} became {' → '.join(n for n in way_now if n not in way) or 'nothing'}"
    yield Change("chain-changed", Level.INFO, op, reason, " → ".join(way), " → ".join(way_now), {}, _places(a, b), fold=fold)


def _way(chain: Chain) -> tuple[str, ...]:
    names = (plain(step.symbol) for step in chain.steps if step.role in _WAY and step.symbol != _LAMBDA)
    return tuple(dict.fromkeys(names))


def _places(old: Step, new: Step) -> tuple[ChangePlace, ...]:
    return tuple(ChangePlace(side, step.path, step.line) for side, step in (("old", old), ("new", new)) if step.path)
