# SPDX-License-Identifier: BSD-3-Clause
"""Decides which info of derivatives.yaml serves which operator: its own, that of its functional variant, or, for `_foreach_`
operators, one made from the operator on single tensors.

torchgen/api/autograd.py (match_differentiability_info, gen_foreach_derivativeinfo).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cartographer.codegen.differentiability import Backward, Forward, Info, Infos, return_names
from cartographer.codegen.saved import Saved
from cartographer.codegen.sources import API_AUTOGRAD
from cartographer.model.schema import SchemaKind

if TYPE_CHECKING:
    from cartographer.codegen.function import Function
    from cartographer.codegen.sources import Sources
    from cartographer.model.schema import Argument, Return

_FOREACH = "_foreach_"


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """An operator with its infos by autograd key; it has none when derivatives.yaml says nothing about it."""

    function: Function
    infos: dict[str, Info]

    @property
    def has_derivatives(self) -> bool:
        """Whether the operator has derivatives for any autograd key."""
        return any(info.has_derivatives for info in self.infos.values())

    @property
    def derived(self) -> bool:
        """Whether the generated VariableType overrides the operator (dispatch_strategy is `use_derived`)."""
        return self.function.is_abstract or self.has_derivatives


class Matcher:
    """Finds the infos that serve operators: by schema, by signature, and for `_foreach_` operators."""

    def __init__(self, functions: list[Function], infos: Infos, sources: Sources) -> None:
        self._infos = infos
        self._functional: dict[str, dict[str, Info]] = {}
        self._other: dict[str, dict[str, Info]] = {}
        self._references: dict[str, list[tuple[Function, dict[str, Info]]]] = {}
        by_name = {f.name: f for f in functions}
        for name, per_key in infos.items():
            function = by_name[name]
            functional = function.kind is SchemaKind.FUNCTIONAL
            (self._functional if functional else self._other)[function.plain_signature] = per_key
            self._references.setdefault(function.schema.name.root, []).append((function, per_key))
        self._foreach = sources.function(API_AUTOGRAD, "gen_foreach_derivativeinfo") is not None
        self._inplace_references = sources.strings(API_AUTOGRAD, "_foreach_with_inplace_ref")
        self._any_length = sources.strings(API_AUTOGRAD, "_skip_argument_len_check")

    def match(self, function: Function) -> Matched:
        """An operator with the infos that serve it."""
        return Matched(function, self._find(function))

    def _find(self, function: Function) -> dict[str, Info]:
        if function.generated and function.kind is SchemaKind.OUT:
            return {}
        own = self._infos.get(function.name)
        if own is not None:
            return own
        foreach = self._foreach and function.schema.name.root.startswith(_FOREACH)
        functional = self._functional.get(function.plain_signature)
        if functional is not None and not foreach:
            return functional
        if function.generated and function.plain_signature in self._other:
            return self._other[function.plain_signature]
        if foreach:
            info = self._foreach_info(function)
            return {"Default": info} if info is not None else {}
        return {}

    def _foreach_info(self, function: Function) -> Info | None:
        reference = self._reference(function)
        if reference is None:
            return None
        info = reference[1].get("Default")
        if info is None or function.kind is SchemaKind.INPLACE:
            return info
        return _of_lists(function, reference[0], info)

    def _reference(self, function: Function) -> tuple[Function, dict[str, Info]] | None:
        """The operator on single tensors whose arguments have the types, or element types, of this one's."""
        candidates = self._references.get(function.schema.name.root.removeprefix(_FOREACH), [])
        arguments = _inputs(function)
        with_inplace = function.name in self._inplace_references
        chosen = [c for c in candidates if c[0].kind is SchemaKind.FUNCTIONAL]
        if function.kind is SchemaKind.INPLACE and with_inplace:
            chosen += [c for c in candidates if c[0].kind is not SchemaKind.FUNCTIONAL]
        for candidate, per_key in chosen:
            if candidate.schema.name.inplace and not with_inplace:
                continue
            theirs = _inputs(candidate)
            if len(arguments) != len(theirs) and function.name not in self._any_length:
                continue
            if all(t.type in (a.type, _element(a)) for a, t in zip(arguments, theirs, strict=False)):
                return candidate, per_key
        return None


def _inputs(function: Function) -> list[Argument]:
    return [a for a in function.schema.arguments if not a.is_out]


def _element(argument: Argument) -> str:
    """`Tensor` of `Tensor[]`, `Scalar` of `Scalar?`: one layer taken off."""
    if argument.type.endswith("?"):
        return argument.type[:-1]
    return argument.type.rpartition("[")[0] if argument.type.endswith("]") else argument.type


def _of_lists(function: Function, reference: Function, info: Info) -> Info:
    """The info of the single-tensor operator, for lists: `grad` is `grads[i]`, `result` is `result[i]`."""
    arguments = _inputs(function)
    renamed = {r.name: a for a, r in zip(arguments, _inputs(reference), strict=False)}
    node = f"Foreach{info.node}{function.schema.name.overload}" if info.node else None
    return Info(
        name=function.base, function=function, node=node,
        backward=tuple(_backward_of_lists(b, renamed) for b in info.backward),
        forward=tuple(_forward_of_lists(f, renamed) for f in info.forward),
        excluded=(), output_differentiability=None, place=info.place,
    )


def _backward_of_lists(backward: Backward, renamed: dict[str, Argument]) -> Backward:
    formula = backward.formula.replace("grad", "grads[i]").replace("result", "result[i]")
    inputs = []
    for saved in backward.saved_inputs:
        argument = renamed[saved.variable]
        item = f"{argument.name}[i]" if argument.is_list else argument.name
        formula = formula.replace(saved.name, saved.expression.replace(saved.variable, item))
        inputs.append(Saved(argument.name, argument.name, argument.name))
    names = tuple(renamed[n].name if n in renamed else n for n in backward.names)
    return replace(backward, names=names, formula=formula, saved_inputs=tuple(inputs))


def _forward_of_lists(forward: Forward, renamed: dict[str, Argument]) -> Forward:
    formula = forward.formula.replace("result", "result[i]")
    for name, argument in renamed.items():
        if argument.element == "Tensor":
            for suffix in ("_p", "_t"):
                formula = formula.replace(name + suffix, argument.name + suffix)
        elif argument.is_list:
            formula = formula.replace(name, f"{argument.name}[i]")
        elif argument.name != name:
            formula = formula.replace(name, argument.name)
    return replace(forward, formula=formula)


def differentiable_outputs(function: Function, info: Info | None) -> list[tuple[str, Return]]:
    """The results of an operator that get a gradient (gen_differentiable_outputs)."""
    outputs = list(zip(return_names(function), function.schema.returns, strict=True))
    if info is not None and info.output_differentiability:
        # A condition in C++ counts as differentiable.
        return [o for o, yes in zip(outputs, info.output_differentiability, strict=False) if yes]
    excluded = info.not_differentiable if info is not None else ()
    tensors = [(name, r) for name, r in outputs if r.element == "Tensor" and name not in excluded]
    return tensors[:1] if info is not None and info.uses("grad") else tensors


def differentiable_inputs(function: Function, info: Info | None) -> list[Argument]:
    """The arguments of an operator that may get a gradient (gen_differentiable_inputs)."""
    excluded = info.not_differentiable if info is not None else ()
    return [a for a in _inputs(function) if a.element == "Tensor" and a.name not in excluded]
