# SPDX-License-Identifier: BSD-3-Clause
"""Runs the codegen stage as a whole: operators with the names, bindings, registrations and derivatives that yaml and the generators lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.codegen import differentiability, generation, handwritten, rows
from cartographer.codegen.autograd import autograd_of
from cartographer.codegen.bindings import Binder
from cartographer.codegen.matching import Matcher
from cartographer.codegen.registrations import Registrar
from cartographer.codegen.sources import Sources
from cartographer.model.operator import OVERLOAD, CppNames, Operator, Origin
from cartographer.model.schema_text import printed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cartographer.codegen.function import Function
    from cartographer.model.declaration import Declarations


class Functions:
    """The functions of one operator list, those that torchgen adds, and their bindings; each is computed once, for several users."""

    def __init__(self, declarations: Declarations, sources: Mapping[str, bytes]) -> None:
        """`sources` are the files that `codegen.sources.WANTED` asks for, as far as the tree has them."""
        self.declarations = declarations
        self.sources = Sources(sources)
        functions = rows.functions(declarations, self.sources)
        self.added = generation.generated(functions, self.sources)
        self.all = [*functions, *self.added]
        self.binder = Binder(self.sources)


def derive(declarations: Declarations, sources: Mapping[str, bytes]) -> tuple[Operator, ...]:
    """All operators of native_functions.yaml and those that torchgen adds, sorted by name."""
    return operators_of(Functions(declarations, sources))


def operators_of(known: Functions) -> tuple[Operator, ...]:
    """The operators of the given functions, sorted by name."""
    read, functions, declarations, binder = known.sources, known.all, known.declarations, known.binder
    infos = differentiability.load(functions, declarations.derivatives, read)
    matcher = Matcher(functions, infos, read)
    matched = [matcher.match(f) for f in functions]
    bindings = binder.all(functions, declarations.deprecated)
    by_hand = handwritten.bind(read, binder.owners, bindings, functions)
    registrations = Registrar(functions, matched, read).all()
    made = []
    for match in matched:
        function = match.function
        name = function.name
        made.append(Operator(
            name=function.schema.name.full,
            schema=printed(function.written),
            origin=Origin.GENERATED if function.generated else Origin.YAML,
            declared=function.row.place,
            variants=function.variants,
            tags=tuple(sorted(function.tags)),
            structured=function.structured,
            structured_delegate=function.structured_delegate,
            python_module=function.python_module,
            generated_from=function.row.name.full if function.generated else None,
            bindings=(*bindings.get(name, ()), *by_hand.get(name, ())),
            cpp=_cpp(function),
            registrations=tuple(registrations.get(name, ())),
            autograd=autograd_of(match, read),
            extra={} if function.generated else _extra(function),
        ))
    return tuple(sorted(made, key=lambda operator: operator.name))


def listed(declarations: Declarations, sources: Mapping[str, bytes]) -> tuple[list[Function], dict[str, tuple[str, ...]]]:
    """The operators that torchgen adds, and the Python names of every operator: enough to compare two releases."""
    return listed_of(Functions(declarations, sources))


def listed_of(known: Functions) -> tuple[list[Function], dict[str, tuple[str, ...]]]:
    """The operators that torchgen adds, and the Python names of every operator, from functions that have been computed already."""
    binder = known.binder
    return known.added, {
        f.written.name.full: tuple(name for name, _ in binder.places(f)) if binder.bound(f) else () for f in known.all
    }


def _cpp(function: Function) -> CppNames:
    """torchgen/api/cpp.py (name) and aten/src/ATen/templates/Operators.h."""
    return CppNames(
        op=f"at::_ops::{function.written.name.unambiguous}",
        function=f"at::{function.cpp_name}" if "function" in function.variants else None,
        method=f"at::Tensor::{function.base}" if "method" in function.variants else None,
    )


def _extra(function: Function) -> dict[str, str]:
    """Further keys of a row, as text."""
    row = function.row
    known = {
        "structured_inherits": row.structured_inherits or "",
        "autogen": ", ".join(str(name) for name in row.autogen),
        "ufunc_inner_loop": "; ".join(f"{u.key}: {u.name} ({', '.join(u.dtypes)})" for u in row.ufunc_inner_loop),
        "precomputed": "; ".join(row.precomputed),
        "cpp_no_default_args": ", ".join(row.cpp_no_default_args),
        "category_override": row.category_override or "",
        "manual_cpp_binding": "True" if row.manual_cpp_binding else "",
        "manual_kernel_registration": "True" if row.manual_kernel_registration else "",
        "use_const_ref_for_mutable_tensors": "True" if row.use_const_ref_for_mutable_tensors else "",
        "device_check": row.device_check or "",
        "device_guard": "" if row.device_guard else "False",
    }
    told = {} if function.written == function.schema else {OVERLOAD: f"made up: this list has other rows that are called {row.name.full} too"}
    return {key: text for key, text in {**known, **row.other, **told}.items() if text}
