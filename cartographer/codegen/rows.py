# SPDX-License-Identifier: BSD-3-Clause
"""Turns rows of native_functions.yaml into functions, with what torchgen implies about them (torchgen/model.py, NativeFunction.from_yaml)."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from cartographer.codegen.function import IMPLICIT, IMPLICIT_NESTED, Function, Kernel, SchemaRules
from cartographer.codegen.sources import GEN, MODEL
from cartographer.model.schema import made_up_overload

if TYPE_CHECKING:
    from collections.abc import Callable

    from cartographer.codegen.sources import Sources
    from cartographer.model.declaration import Declarations, NativeFunction
    from cartographer.model.schema import FunctionSchema

# What from_yaml tags by itself, each only where the release's tags.yaml knows the tag: all of aten, and since 2.13 what
# writes into `out=` arguments or works in place.
_IMPLIED_TAGS: dict[str, Callable[[FunctionSchema], bool]] = {
    "pt2_compliant_tag": lambda schema: schema.name.namespace in {"", "aten"},
    "out": lambda schema: bool(schema.out),
    "inplace": lambda schema: schema.name.inplace,
}
_COMPOSITE_ONLY = ({IMPLICIT}, {IMPLICIT_NESTED}, {IMPLICIT, IMPLICIT_NESTED})


def functions(declarations: Declarations, sources: Sources) -> list[Function]:
    """The functions of native_functions.yaml, in its order."""
    rules = SchemaRules(sources)
    structured = _structured_keys(sources)
    ufunc = sources.strings(MODEL, "UFUNC_DISPATCH_KEYS")
    implied = {tag.tag: _IMPLIED_TAGS[tag.tag] for tag in declarations.tags if tag.tag in _IMPLIED_TAGS}
    default = default_key(sources)
    made = []
    for row, schema in zip(declarations.functions, _told_apart([row.schema for row in declarations.functions]), strict=True):
        kernels = _kernels(row, structured, ufunc, default)
        tags = frozenset(row.tags) | {tag for tag, holds in implied.items() if holds(row.schema)}
        made.append(Function(
            row=row, schema=schema, kernels=kernels, tags=tags, variants=row.variants, generated=False,
            is_abstract=row.structured_delegate is not None or _is_abstract(kernels, default), rules=rules,
        ))
    return made


def _told_apart(schemas: list[FunctionSchema]) -> list[FunctionSchema]:
    """Schemas of which no two have one name. To 1.2 rows have no overload's name and many are called alike (in 1.3 four): the first
    keeps its name, the others get an overload that we make of the types of their arguments, as in `add.Tensor_Scalar_Scalar`.
    """
    taken = Counter(str(schema.name) for schema in schemas)
    met: set[str] = set()
    made = []
    for schema in schemas:
        name = schema.name
        if str(name) in met:
            overload = made_up_overload(schema)
            found = (f"{overload}_{number}" if number else overload for number in range(len(schemas) + 1))
            name = next(n for n in (replace(name, overload=o) for o in found) if str(n) not in taken)
            taken[str(name)] += 1
        met.add(str(name))
        made.append(schema if name is schema.name else replace(schema, name=name))
    return made


def _structured_keys(sources: Sources) -> frozenset[str]:
    """The keys for which torchgen writes structured kernels; before they had a list of their own, a function named them."""
    listed = sources.strings(MODEL, "STRUCTURED_DISPATCH_KEYS")
    found = None if listed else sources.function(MODEL, "is_structured_dispatch_key") or sources.function(GEN, "is_structured_dispatch_key")
    nodes = ast.walk(found.node) if found is not None else ()
    return listed or frozenset(key for set_ in nodes if isinstance(set_, ast.Set) for key in map(_key_of, set_.elts) if key)


def _key_of(node: ast.expr) -> str:
    """`'CUDA'` or `DispatchKey.CUDA`."""
    return node.attr if isinstance(node, ast.Attribute) else node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def default_key(sources: Sources) -> str:
    """The dispatch key of an operator without a `dispatch` block: CompositeImplicitAutograd, called Math in 1.8, and a
    catch-all before.
    """
    found = sources.function(MODEL, "NativeFunction.from_yaml")
    return next((key for key in (IMPLICIT, "Math") if found is not None and key in found.names), "CatchAll")


def _is_abstract(kernels: dict[str, Kernel], default: str) -> bool:
    """Whether its dispatch differs between backends; only then VariableType overrides it."""
    keys = set(kernels)
    return keys != {default} and keys not in _COMPOSITE_ONLY


def _kernels(row: NativeFunction, structured: frozenset[str], ufunc: frozenset[str], default: str) -> dict[str, Kernel]:
    kernels: dict[str, Kernel] = {}
    if row.dispatch is not None:
        for entry in row.dispatch:
            made = row.structured and entry.key in structured
            kernels[entry.key] = Kernel.parse(entry.kernel, structured=made, place=entry.place)
    elif not row.in_structured_group:
        name = f"{row.name.base}_out" if row.schema.out else row.name.base
        kernels[default] = Kernel(name)
    if row.ufunc_inner_loop:
        # torchgen/api/ufunc.py, schema_kernel_name
        for key in sorted(ufunc):
            place = row.ufunc_inner_loop[0].place
            kernels[key] = Kernel(f"ufunc_{row.name.base}_{key}", structured=True, place=place)
    return kernels
