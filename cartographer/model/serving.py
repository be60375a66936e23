# SPDX-License-Identifier: BSD-3-Clause
"""Tells how an operator is served on a backend in the end, where the dispatcher's table alone says too much: a kernel may only raise an error,
or be written by the build around another form of the operator, which the backend lacks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from cartographer.model.backend import device_of_key, layout_prefix
from cartographer.model.dispatch import COMPOSITE, DEFAULT, FALLBACK, NOTHING, OUTCOMES, OWN
from cartographer.model.operator import Origin
from cartographer.model.schema import OperatorName

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from cartographer.model.operator import Operator

WAITS, RAISES, REFUSES, UNTOLD = "waits", "raises", "refuses", "not told"
WAYS = (OWN, DEFAULT, COMPOSITE, FALLBACK, WAITS, RAISES, REFUSES, NOTHING, UNTOLD)
_BROUGHT = (NOTHING, RAISES, FALLBACK)  # what a backend changes by a kernel of its own


class Served(NamedTuple):
    """In which way an operator is served, and for WAITS the operator that needs a kernel first."""

    how: str
    through: str = ""


def served(op: Operator, key: str, operators: Mapping[str, Operator], elsewhere: Collection[str] = ()) -> Served:
    """How an operator is served on a backend. `operators`: all of the release by name; a form that is not among them counts as served.
    `elsewhere`: devices whose kernels another repository has: what lacks a kernel of theirs here may have it there.
    """
    found = _served(op, key, operators)
    return Served(UNTOLD) if found.how in (NOTHING, WAITS, RAISES) and device_of_key(key) in elsewhere else found


def _served(op: Operator, key: str, operators: Mapping[str, Operator]) -> Served:
    seen = [op.name]
    how = _alone(op, key)
    while how == DEFAULT and (form := form_behind(op, operators)) in operators and form not in seen:
        op = operators[form]
        seen.append(form)
        how = _alone(op, key)
    if len(seen) == 1 or how == UNTOLD:
        return Served(how)
    return Served(WAITS, op.name) if how in _BROUGHT else Served(DEFAULT)


def form_behind(op: Operator, operators: Mapping[str, Operator]) -> str:
    """The form of the operator that its kernel for all backends calls, where the build writes that kernel: out= of a structured operator, the
    functional form of an out= that torchgen adds (torchgen/native_function_generation.py), which itself may be made of the one in place; "" otherwise.
    """
    for_all = [r.origin for r in op.registrations if r.active and r.key.startswith(("CompositeExplicit", "DefaultBackend"))]
    if op.structured_delegate and Origin.STRUCTURED in for_all:
        return f"{op.namespace}::{op.structured_delegate}"
    if not op.generated_from or Origin.GENERATED not in for_all:
        return ""
    return generated_of(op.generated_from, op.name, operators)


def generated_of(source: str, name: str, operators: Collection[str]) -> str:
    """The form that a written kernel of the operator `name` calls, which torchgen makes of the row `source`: its functional form, or where
    it is that one itself, what it is made of.
    """
    written = OperatorName.parse(source)
    functional = str(replace(written, base=written.functional))
    return functional if functional in operators and functional != name else source


def _alone(op: Operator, key: str) -> str:
    """How the dispatcher and the operator's own kernel for a key serve it."""
    how = OUTCOMES.get(op.dispatch.get(key, ""), UNTOLD)
    if how == OWN and any(r.key == key and r.active and "backend fallback" in r.rule for r in op.registrations):
        return FALLBACK  # what is registered is the backend's fallback, as MPSFallback.mm does
    if not _only_raises(op, key, how):
        return how
    return RAISES if how != OWN and _brought_by_others(op) and not _of_other_layouts(op, key) else REFUSES


def _only_raises(op: Operator, key: str, how: str) -> bool:
    """Whether the kernel of a key is one that only raises. A key that no chain was made for shares the kernel of another one that the
    dispatcher serves in the same words, unless each has its own.
    """
    if key in op.kernels or how not in (DEFAULT, COMPOSITE):
        return key in op.kernels and op.kernels[key].only_raises
    return any(chain.only_raises for other, chain in op.kernels.items() if op.dispatch.get(other) == op.dispatch[key])


def _brought_by_others(op: Operator) -> bool:
    """Whether the error of a kernel for all is one for want of a backend's own: some backend has one that works, or the error says to bring one.
    Else it is raised everywhere (the overloads for named dimensions that are not implemented), and nobody's to bring.
    """
    return any(chain.to_override or (OUTCOMES.get(op.dispatch.get(key, "")) == OWN and not chain.only_raises) for key, chain in op.kernels.items())


def _of_other_layouts(op: Operator, key: str) -> bool:
    """Whether an operator is only for tensors of layouts that a key's tensors do not have, as `crow_indices`: its error is the right answer."""
    layouts = {layout_prefix(other) for other, chain in op.kernels.items() if OUTCOMES.get(op.dispatch.get(other, "")) == OWN and not chain.only_raises}
    return bool(layouts) and "" not in layouts and layout_prefix(key) not in layouts
