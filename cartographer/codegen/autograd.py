# SPDX-License-Identifier: BSD-3-Clause
"""Describes the backward side of an operator as the generated VariableType has it (tools/autograd/gen_variable_type.py, emit_body)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.codegen.matching import Matched, differentiable_inputs, differentiable_outputs
from cartographer.codegen.registrations import VARIABLE, base_name, by_hand, falls_back
from cartographer.model.operator import Autograd, Formula
from cartographer.model.schema import SchemaKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.codegen.differentiability import Info
    from cartographer.codegen.function import Function
    from cartographer.codegen.sources import Sources


def autograd_of(matched: Matched, sources: Sources) -> Autograd:
    """The Nodes, the formulas and what is saved for an operator; for one without a Node the kind says how it behaves."""
    function = matched.function
    infos = matched.infos
    kind = _kind(matched, sources)
    place = next((info.place for info in infos.values()), None)
    if function.is_out:
        return Autograd((), place, kind=kind)
    nodes = dict.fromkeys(
        info.node for info in infos.values()
        if info.node and kind != "by hand" and _requires_derivative(function, info, sources)
    )
    saved = dict.fromkeys(name for info in infos.values() for name in info.saved)
    outputs = next((i.output_differentiability for i in infos.values() if i.output_differentiability), ())
    return Autograd(
        nodes=tuple(nodes), formula=place, saved=tuple(saved),
        formulas=tuple(f for key, info in infos.items() for f in _formulas(key, info)),
        output_differentiability=tuple(str(o) for o in outputs), kind=kind,
    )


def _kind(matched: Matched, sources: Sources) -> str:
    function = matched.function
    if function.cpp_name in by_hand(sources):
        return "by hand"
    if function.is_out:
        return "not differentiable"
    if matched.has_derivatives:
        formulas = [b.original for info in matched.infos.values() for b in info.backward]
        return "not implemented" if all(f.startswith("not_implemented") for f in formulas) else "formula"
    if not matched.derived:
        return "through the operators it calls"
    info = next(iter(matched.infos.values()), None)
    lacking = falls_back(matched, sources) or _requires_derivative(function, info, sources)
    return "not implemented" if lacking else "not differentiable"


def _requires_derivative(function: Function, info: Info | None, sources: Sources) -> bool:
    """Whether the wrapper makes a node: some input and some output must be differentiable."""
    never = sources.strings(VARIABLE, "DONT_REQUIRE_DERIVATIVE")
    if base_name(function) in never or function.cpp_name in never or not differentiable_inputs(function, info):
        return False
    foreach = function.cpp_name.startswith("_foreach") and function.kind is SchemaKind.INPLACE
    return foreach or bool(differentiable_outputs(function, info))


def _formulas(key: str, info: Info) -> Iterator[Formula]:
    for backward in info.backward:
        yield Formula(backward.names, backward.original, backward.place, key)
    for excluded in info.excluded:
        yield Formula(excluded.names, excluded.text, excluded.place, key)
    for forward in info.forward:
        yield Formula(forward.names, forward.original, forward.place, key, forward=True)
