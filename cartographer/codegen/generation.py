# SPDX-License-Identifier: BSD-3-Clause
"""Derives the operators that torchgen adds to those of native_functions.yaml: out= and functional variants, by
torchgen/native_function_generation.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cartographer.codegen.function import (
    EXPLICIT,
    Function,
    Kernel,
    inputs_of,
    mutable_inputs,
    without_alias,
)
from cartographer.codegen.grouping import by_signature
from cartographer.codegen.sources import GENERATION
from cartographer.errors import DeclarationError
from cartographer.model.schema import AliasSet, Argument, FunctionSchema, OperatorName, Return, SchemaKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cartographer.codegen.sources import Function as SourceFunction
    from cartographer.codegen.sources import Sources

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ADD = "add_generated_native_functions"


def generated(functions: list[Function], sources: Sources) -> list[Function]:
    """The functions that torchgen adds, in its order; none in releases whose torchgen had no such generator."""
    adder = sources.function(GENERATION, _ADD)
    if adder is None:
        return []
    ungrouped = sources.strings(GENERATION, "INPLACE_OPS_THAT_DONT_GET_GROUPED_PROPERLY")
    not_views = adder.compared("str(f.func.name.name)")  # `set_` counts as an ordinary in-place operator
    core = adder.mentions("core")
    first, second = _precedence(adder)
    tags = _inherited_tags(sources)
    made: list[Function] = []
    for variants in by_signature(functions).values():
        if _left_alone(variants, not_views, core=core) or set(variants) == {SchemaKind.OUT}:
            continue
        inplace = variants.get(SchemaKind.INPLACE)
        if inplace is not None and inplace.name in ungrouped:
            continue
        base = next(f for kind in (first, second, SchemaKind.OUT, SchemaKind.FUNCTIONAL)
                    if (f := variants.get(kind)) is not None)
        has_out = SchemaKind.OUT in variants
        if not has_out and not (_can_have_out(base) and any("out" in str(name) for name in base.row.autogen)):
            continue
        if not has_out:
            if base.kind is SchemaKind.INPLACE and base.schema.self_argument is None:
                raise DeclarationError(
                    f"{base.name} works in place, but has no argument called self", where=str(base.row.place), hint="torchgen would refuse this row too",
                )
            made.append(_derived(base, _out_schema(base.schema), tags))
        if SchemaKind.FUNCTIONAL not in variants:
            made.append(_derived(base, _functional_schema(base.schema), tags))
    return made


def _precedence(adder: SourceFunction) -> tuple[SchemaKind, SchemaKind]:
    """Whether the mutable or the in-place variant is the base, as the order of the two in the source says."""
    text = adder.assigned("base_fn")
    if text.find("SchemaKind.inplace") < text.find("SchemaKind.mutable"):
        return SchemaKind.INPLACE, SchemaKind.MUTABLE
    return SchemaKind.MUTABLE, SchemaKind.INPLACE


def _inherited_tags(sources: Sources) -> frozenset[str]:
    """Tags that a generated operator takes over from its base: the set that generate_function intersects with."""
    maker = sources.function(GENERATION, "generate_function")
    return maker.intersected("f.tags") if maker else frozenset()


def _left_alone(variants: Mapping[SchemaKind, Function], not_views: frozenset[str], *, core: bool) -> bool:
    """Operators that bypass the dispatcher, views, and composites that are not core."""
    functions = variants.values()
    if all(f.manual_cpp_binding for f in functions):
        return True
    if any(f.is_view and f.base not in not_views for f in functions):
        return True
    is_core = core and any("core" in f.tags for f in functions)
    return all(f.implicit for f in functions) and not is_core


def _can_have_out(base: Function) -> bool:
    return base.kind is SchemaKind.INPLACE or any(r.element == "Tensor" for r in base.schema.returns)


def _derived(base: Function, schema: FunctionSchema, tags: frozenset[str]) -> Function:
    """A generated operator: one CompositeExplicitAutograd kernel, in CompositeViewCopyKernels.cpp."""
    kernel = schema.name.unambiguous if schema.out else schema.name.base
    if any(a.element == "SymInt" for a in base.schema.arguments if not a.is_out):
        kernel += "_symint"
    return Function(
        row=base.row, schema=schema, kernels={EXPLICIT: Kernel(kernel)},
        tags=frozenset(("generated",)) | (base.tags & tags), variants=("function",), generated=True,
        is_abstract=base.is_abstract, rules=base.rules,
    )


def _without_inplace(name: OperatorName, overload: str, suffix: str = "") -> OperatorName:
    base = f"__{name.root}__" if name.dunder else name.root
    return OperatorName(base + suffix, overload, name.namespace)


def _out_overload(overload: str) -> str:
    return f"{overload}_out" if overload else "out"


def _out_schema(schema: FunctionSchema) -> FunctionSchema:
    """self_to_out_signature, mutable_to_out_signature, functional_to_out_signature."""
    name = _without_inplace(schema.name, _out_overload(schema.name.overload))
    kind = schema.kind
    if kind is SchemaKind.INPLACE:
        target = schema.self_argument
        assert target is not None
        inputs = tuple(without_alias(a) if a is target else a for a in schema.arguments)
        out = Argument(target.type, "out", target.aliases, None, kwarg_only=True)
        return FunctionSchema(name, (*inputs, out), schema.returns)
    returns, outs = _out_arguments(schema)
    if kind is SchemaKind.MUTABLE:
        return FunctionSchema(name, (*schema.arguments, *outs), tuple(returns))
    return FunctionSchema(name, (*map(without_alias, inputs_of(schema)), *outs), tuple(returns))


def _out_arguments(schema: FunctionSchema) -> tuple[list[Return], list[Argument]]:
    """One output for each tensor that is returned (generate_out_args_from_schema)."""
    used = {letter for a in schema.arguments if a.annotation for letter in a.annotation.before}
    letters = [letter for letter in _LETTERS if letter not in used]
    only_tensors = all(r.type == "Tensor" for r in schema.returns)
    returns: list[Return] = []
    outs: list[Argument] = []
    for index, returned in enumerate(schema.returns):
        if returned.element != "Tensor":
            returns.append(returned)
            continue
        aliases = ((len("Tensor"), AliasSet((letters[index],), write=True)),)
        name = "out" if len(schema.returns) == 1 else f"out{index}"
        outs.append(Argument(returned.type, name, aliases, None, kwarg_only=True))
        if only_tensors:
            returns.append(Return(returned.type, "", aliases))
    return returns, outs


def _functional_schema(schema: FunctionSchema) -> FunctionSchema:
    """Mutable arguments become returns; `_functional` is appended when the operator has a mutable variant."""
    suffix = "_functional" if schema.kind is SchemaKind.MUTABLE else ""
    name = _without_inplace(schema.name, schema.name.overload, suffix)
    returns = [replace(r, aliases=()) for r in schema.returns]
    returns += [Return(a.type, f"{a.name}_out") for a in mutable_inputs(schema)]
    return FunctionSchema(name, tuple(map(without_alias, inputs_of(schema))), tuple(returns))
