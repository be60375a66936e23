# SPDX-License-Identifier: BSD-3-Clause
"""Joins derivatives.yaml to the operators: nodes with their numbers, formulas, what is saved.

tools/autograd/load_derivatives.py (create_differentiability_info, add_view_copy_derivatives).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cartographer.codegen.function import tensor_options
from cartographer.codegen.grouping import ViewGroup, by_view
from cartographer.codegen.saved import LOADER, Replacement, Saved, mentions, replace_name, replacements, saved_variables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.codegen.function import Function
    from cartographer.codegen.sources import Sources
    from cartographer.model.declaration import Derivative, DerivativeFormula, DerivativeSet
    from cartographer.model.location import Location
    from cartographer.model.schema import Argument

NOT_DIFFERENTIABLE = "non_differentiable"


@dataclass(frozen=True, slots=True)
class Backward:
    """A formula for the gradients of some arguments, with what it saves from the forward call."""

    names: tuple[str, ...]
    original: str  # as written
    formula: str  # what the node evaluates
    saved_inputs: tuple[Saved, ...]
    saved_outputs: tuple[Saved, ...]
    place: Location


@dataclass(frozen=True, slots=True)
class Forward:
    """A forward-mode formula for some results; `formula` has auto_linear and auto_element_wise spelled out."""

    names: tuple[str, ...]
    original: str
    formula: str
    place: Location


@dataclass(frozen=True, eq=False)
class Info:
    """What derivatives.yaml says about one operator and one autograd key (DifferentiabilityInfo)."""

    name: str
    function: Function
    node: str | None
    backward: tuple[Backward, ...]
    forward: tuple[Forward, ...]
    excluded: tuple[DerivativeFormula, ...]  # `other: non_differentiable`
    output_differentiability: tuple[bool | str, ...] | None
    place: Location

    @property
    def not_differentiable(self) -> tuple[str, ...]:
        """The arguments that the row of derivatives.yaml declares as not differentiable."""
        return tuple(name for formula in self.excluded for name in formula.names)

    @property
    def has_derivatives(self) -> bool:
        """Whether the row has a formula for the gradient of any argument."""
        return bool(self.backward)

    @property
    def saved(self) -> tuple[str, ...]:
        """The names of what the Node saves: first inputs, then outputs."""
        names = [s.name for b in self.backward for s in b.saved_inputs]
        names += [s.name for b in self.backward for s in b.saved_outputs]
        return tuple(dict.fromkeys(names))

    def uses(self, name: str) -> bool:
        """Whether a backward formula uses a name."""
        return any(mentions(b.formula, name) for b in self.backward)


Infos = dict[str, dict[str, Info]]  # by the operator's name, then by autograd key


def load(functions: list[Function], derivatives: Iterable[Derivative], sources: Sources) -> Infos:
    """Read the infos of every operator that derivatives.yaml has a row for, and of the copying variants of views."""
    views = list(by_view(functions))
    ordered = [f for g in views for f in (g.functions if isinstance(g, ViewGroup) else (g,))]
    by_schema: dict[str, Function] = {}
    by_signature: dict[str, list[Function]] = {}
    for function in ordered:
        by_schema[str(function.written)] = function
        by_signature.setdefault(function.signature, []).append(function)
    table = replacements(sources)
    counter: Counter[str] = Counter()
    infos: Infos = {}
    for row in derivatives:
        named = by_schema.get(str(row.schema))
        if named is None:
            continue  # a row for an operator that this release does not have
        canonical = _canonical(by_signature[named.signature], row.name.base)
        infos[canonical.name] = {s.key: _info(row, s, canonical, counter, table) for s in row.sets}
    if sources.function(LOADER, "ensure_unique_names") is not None:
        _number_only_doubles(infos)
    _add_view_copies(infos, (g for g in views if isinstance(g, ViewGroup)))
    return infos


def _canonical(functions: list[Function], name: str) -> Function:
    """Of the variants of an operator the one that the row names; some have in-place variants only."""
    for function in functions:
        if "functional" not in function.written.name.overload and not function.is_out and function.base == name:
            return function
    return functions[0]


def argument_names(function: Function) -> list[str]:
    """The names of an operator's C++ arguments: the four tensor options are one argument, called `options`."""
    options = tensor_options(function.schema)
    names = [a.name for a in function.schema.arguments if a not in options[1:]]
    return ["options" if options and n == options[0].name else n for n in names]


def return_names(function: Function) -> list[str]:
    """The names of an operator's results in C++ (torchgen/api/cpp.py, return_names)."""
    schema = function.schema
    names = []
    for index, returned in enumerate(schema.returns):
        if schema.name.inplace:
            names.append("self")
        elif function.is_out and index < len(schema.out):
            names.append(schema.out[index].name)
        elif returned.name:
            conflict = any(returned.name == a.name for a in schema.arguments)
            names.append(f"{returned.name}_return" if conflict else returned.name)
        else:
            names.append("result" if len(schema.returns) == 1 else f"result{index}")
    return names


def _info(
    row: Derivative, per_key: DerivativeSet, function: Function, counter: Counter[str], table: tuple[Replacement, ...],
) -> Info:
    backward: list[Backward] = []
    forward: list[DerivativeFormula] = []
    excluded: list[DerivativeFormula] = []
    for formula in sorted(per_key.formulas, key=lambda f: ", ".join(f.names)):
        if formula.forward:
            forward.append(formula)
        elif formula.text.lower().strip() == NOT_DIFFERENTIABLE:
            excluded.append(formula)
        else:
            backward.append(_backward(function, formula, table))
    node = None
    if backward:
        prefix = node_prefix(row.name.base) + ("" if per_key.key == "Default" else per_key.key)
        node = f"{prefix}{counter[prefix]}"
        counter[prefix] += 1
    made = tuple(Forward(f.names, f.text, _forward(f.text, row.name.base, function, backward), f.place) for f in forward)
    return Info(row.name.base, function, node, tuple(backward), made, tuple(excluded), row.output_differentiability,
                row.place)


def node_prefix(name: str) -> str:
    """The beginning of a Node's name, `AddBackward` for `add` (_create_op_prefix)."""
    camel = "".join(part.title() for part in name.split("_"))
    return f"{camel}Backward".replace("ForwardBackward", "Backward")


def _backward(function: Function, formula: DerivativeFormula, table: tuple[Replacement, ...]) -> Backward:
    text, inputs = saved_variables(formula.text, _variables(function), table)
    results = [("result" if n == "self" else n, False) for n in return_names(function)]
    text, outputs = saved_variables(text, results, table)
    return Backward(formula.names, formula.text, text, tuple(inputs), tuple(outputs), formula.place)


def _variables(function: Function) -> list[tuple[str, bool]]:
    texts = {a.name for a in function.schema.arguments if a.type == "str?"}
    return [(name, name in texts) for name in _cpp_order(function)]


def _cpp_order(function: Function) -> list[str]:
    """C++ takes outputs first."""
    outs = [a.name for a in function.schema.out]
    return [*outs, *(n for n in argument_names(function) if n not in outs)]


def _forward(text: str, name: str, function: Function, backward: list[Backward]) -> str:
    """auto_linear calls the operator on the tangents, auto_element_wise reuses the backward formula
    (postprocess_forward_derivatives).
    """
    differentiated = {n for b in backward for n in b.names}
    arguments = _cpp_order(function)
    inputs = [n for n in arguments if n in differentiated]
    if text == "auto_element_wise" and backward and inputs:
        made = replace_name(backward[0].original, "grad", f"{inputs[0]}_t.conj()")
        for argument in inputs:
            made = replace_name(made, argument, f"{argument}_p")
        return f"({made}).conj()"
    if text == "auto_linear":
        passed = [f"{n}_t" if n in differentiated else n for n in arguments]
        called = f"{name}_symint" if any(a.element == "SymInt" for a in _not_out(function)) else name
        if "function" in function.variants:
            return f"at::{called}({', '.join(passed)})"
        return f"{passed[0]}.{called}({', '.join(passed[1:])})"
    return text


def _not_out(function: Function) -> list[Argument]:
    return [a for a in function.schema.arguments if not a.is_out]


def _number_only_doubles(infos: Infos) -> None:
    """Up to 1.9 a node has a number only when another one shares its name."""
    nodes = [i.node for per_key in infos.values() for i in per_key.values() if i.node]
    prefixes = Counter(node.rstrip("0123456789") for node in nodes)
    for per_key in infos.values():
        for key, info in per_key.items():
            prefix = (info.node or "").rstrip("0123456789")
            if info.node and prefixes[prefix] == 1:
                per_key[key] = replace(info, node=prefix)


def _add_view_copies(infos: Infos, groups: Iterable[ViewGroup]) -> None:
    """Every copy of a view shares its formulas, under a node name of its own; rows written by hand win."""
    copies: Infos = {}
    for group in groups:
        of_view = infos.get(group.view.name)
        if of_view is None or group.copy is None or group.copy.name in infos:
            continue
        copies[group.copy.name] = {
            key: replace(i, name=f"{i.name}_copy", function=group.copy,
                         node=f"{i.node}_copy" if i.node else None)
            for key, i in of_view.items()
        }
    infos.update(copies)
