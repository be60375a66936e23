# SPDX-License-Identifier: BSD-3-Clause
"""Compares an operator's own dispatch block, what serves it in effect, and its structured group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from cartographer.model.change import Change, Level
from cartographer.model.kinds import SAME_FUNCTION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.model.oplist import OperatorList, OperatorRow


class MakeChange(Protocol):
    """A function that makes a change of the operator that is being compared."""

    def __call__(self, id_: str, level: Level, reason: str, before: str | None, after: str | None, **more: object) -> Change: ...


_COMPOSITES = {
    "CompositeImplicitAutograd": "Implicit",
    "CompositeExplicitAutograd": "Explicit",
    "CompositeExplicitAutogradNonFunctional": "ExplicitNonFunctional",
}


# Keys for which torchgen writes the kernel around an inner loop (torchgen/model.py, UFUNC_DISPATCH_KEYS).
_UFUNC = frozenset(("CPU", "CUDA"))


def composite_kind(row: OperatorRow) -> str:
    """Which composite kernel serves an operator: Implicit, Explicit, ExplicitNonFunctional or no."""
    return next((word for key, word in _COMPOSITES.items() if key in row.dispatch), "no")


def effective_keys(row: OperatorRow, side: OperatorList) -> frozenset[str]:
    """The dispatch keys of an operator's own block, and those of the structured operator that it delegates to. That one is
    structured itself and delegates no further (torchgen/model.py, NativeFunction.__post_init__).
    """
    delegate = side.rows.get(f"aten::{row.structured_delegate}")
    return _own_keys(row) | (_own_keys(delegate) if delegate else frozenset())


def _own_keys(row: OperatorRow) -> frozenset[str]:
    return frozenset(row.dispatch) | (_UFUNC if "ufunc_inner_loop" in row.flags else frozenset())


def registration_changes(was: OperatorRow, now: OperatorRow, old: OperatorList, new: OperatorList, change: MakeChange) -> Iterator[Change]:
    """The changes of one operator: keys gained and lost, kernels renamed, composite kind, structured group, autogen."""
    effective_old, effective_new = effective_keys(was, old), effective_keys(now, new)
    yield from _own_block(was, now, effective_old, effective_new, change)
    for key in sorted(effective_new - effective_old - now.dispatch.keys()):
        former = next((alias for alias in _COMPOSITES if alias in was.dispatch), None)
        reason = f"{key} serves it through {now.structured_delegate or 'torchgen'}" + (f", {former} served it before" if former else "")
        yield change("effective-gained", Level.INFO, reason, None, key, key=key, fold="a composite served it before" if former else "")
    for key in sorted(effective_old - effective_new - was.dispatch.keys()):
        yield change("effective-lost", Level.MAYBE, f"{key} served it through {was.structured_delegate or 'torchgen'}", key, None, key=key)
    before, after = composite_kind(was), composite_kind(now)
    if before != after:
        yield change("composite-changed", *_composite(before, after, now), before, after)
    for word, a, b in (
        ("structured", str(was.structured), str(now.structured)),
        ("structured-delegate", was.structured_delegate, now.structured_delegate),
        ("structured-inherits", was.structured_inherits, now.structured_inherits),
    ):
        if a != b:
            yield change(f"{word}-changed", Level.INFO, f"{word.replace('-', '_')} changed", a or None, b or None)
    if was.autogen != now.autogen:
        gained, lost = sorted(set(now.autogen) - set(was.autogen)), sorted(set(was.autogen) - set(now.autogen))
        yield change("autogen-changed", Level.INFO, "torchgen derives other operators from it", ", ".join(was.autogen) or None,
                     ", ".join(now.autogen) or None, gained=gained, lost=lost)


def _composite(before: str, after: str, now: OperatorRow) -> tuple[Level, str]:
    """How much it matters that backends without a kernel of their own are served otherwise, and why."""
    if before == "no":
        return Level.INFO, "backends without a kernel of their own can run it now"
    if after == "no" and (now.structured or now.structured_delegate):
        return Level.INFO, f"the structured operator {now.structured_delegate or 'itself'} serves the backends that have a kernel for it"
    if after == "no":
        return Level.MAYBE, "backends without a kernel of their own cannot run it any more"
    if after == "Implicit":
        return Level.MAYBE, "autograd, tracers and overriding subclasses see the operators that it calls, no longer itself"
    if before == "Implicit":
        return Level.MAYBE, "autograd, tracers and overriding subclasses see it whole, no longer the operators that it calls"
    return Level.INFO, "another kind of kernel for backends without their own"


def _own_block(
    was: OperatorRow, now: OperatorRow, effective_old: frozenset[str], effective_new: frozenset[str], change: MakeChange,
) -> Iterator[Change]:
    for key in sorted(now.dispatch.keys() - was.dispatch.keys()):
        former = _server(was, key, effective_old)
        reason = f"{key} has a kernel of its own" if key not in _COMPOSITES else f"a kernel for all backends without their own: {key}"
        reason += f", {former} served it before" if former else ""
        same = now.dispatch[key] == was.dispatch.get(former or "")
        fold = SAME_FUNCTION if same else "a composite, or the structured operator that it delegates to, served it before" if former else ""
        yield change("dispatch-gained", Level.INFO, reason, None, now.dispatch[key], key=key, by_default=now.implied, fold=fold)
    for key in sorted(was.dispatch.keys() - now.dispatch.keys()):
        still = _server(now, key, effective_new)
        level = Level.INFO if still or key in _COMPOSITES else Level.MAYBE  # of a composite, composite-changed says what it means
        reason = f"{still} still serves {key}" if still else f"nothing in the list serves {key} any more"
        if key in _COMPOSITES:
            reason = f"the kernel for all backends without their own ({key}) is gone; {_instead(now)}"
        fold = "a composite, or the structured operator that it delegates to, still serves it" if still else ""
        yield change("dispatch-lost", level, reason, was.dispatch[key], None, key=key, by_default=was.implied, fold=fold)
    for key in sorted(was.dispatch.keys() & now.dispatch.keys()):
        before, after = was.dispatch[key], now.dispatch[key]
        if before == after:
            continue
        symint = before.removesuffix("_symint") == after.removesuffix("_symint")
        reason = "the same kernel, taking SymInt" if symint else "another kernel function"
        yield change("kernel-changed", Level.INFO, reason, before, after, key=key, **({"only": "_symint"} if symint else {}),
                     fold="kernels respelled with _symint" if symint else "")


def _instead(row: OperatorRow) -> str:
    kept = [key for key in row.dispatch if key not in _COMPOSITES]
    if composite := [key for key in row.dispatch if key in _COMPOSITES]:
        return f"{', '.join(composite)} stands instead"
    if row.structured_delegate:
        return f"it delegates to {row.structured_delegate}"
    return f"kernels remain for {', '.join(sorted(kept))}" if kept else "no kernel remains"


def _server(row: OperatorRow, key: str, effective: frozenset[str]) -> str | None:
    """What else serves a backend key: the structured delegate, or a composite."""
    if key in _COMPOSITES:
        return None
    if key in effective - row.dispatch.keys():
        return row.structured_delegate
    return next((alias for alias in _COMPOSITES if alias in row.dispatch), None)
