# SPDX-License-Identifier: BSD-3-Clause
"""Derives the Python names that tools/autograd/gen_python_functions.py generates for operators.

Without `python_module` a method goes to python_variable_methods.cpp, a function to python_torch_functions; with one, to
that module's file. An `.out` overload merges into the function of its base. deprecated.yaml adds signatures.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from cartographer.codegen import shards
from cartographer.model.operator import Binding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cartographer.codegen.function import Function
    from cartographer.codegen.sources import Sources
    from cartographer.model.declaration import DeprecatedSignature
    from cartographer.model.schema import FunctionSchema

MODULE = "gen_python_functions.py"
TEMPLATES = "tools/autograd/templates/"
METHODS = "python_variable_methods.cpp"
TORCH = "python_torch_functions.cpp"

_TEMPLATE = re.compile(re.escape(TEMPLATES) + r"python_([a-z]+)_functions\.cpp")
_OWNER = re.compile(r'"(torch\._C\._\w+)"')
# The only constant that deprecated.yaml passes, and its type (load_deprecated_signatures).
_CONSTANTS = {"1": "Scalar"}

Bindings = dict[str, list[Binding]]  # by the operator's name


class Binder:
    """Derives the generated Python bindings of one release."""

    def __init__(self, sources: Sources) -> None:
        self._signatures = sources.strings(MODULE, "SKIP_PYTHON_BINDINGS_SIGNATURES")
        patterns = sorted(sources.strings(MODULE, "_SKIP_PYTHON_BINDINGS", "SKIP_PYTHON_BINDINGS"))
        self._skipped = re.compile("|".join(f"(?:{p})" for p in patterns) or r"(?!)")
        self._generator = sources.place(MODULE, "gen", "should_generate_py_binding")
        self._shards = shards.count_of(sources, MODULE, TORCH)
        self.owners = {
            found[1]: owner[1] if (owner := _OWNER.search(sources.text(path))) else f"torch._C._{found[1]}"
            for path in sources.files
            if (found := _TEMPLATE.fullmatch(path)) and found[1] != "torch"
        }

    def bound(self, function: Function) -> bool:
        """Whether the generator makes a Python binding for an operator (should_generate_py_binding)."""
        if function.generated and "view_copy" not in function.tags:
            return False
        types = ", ".join(a.type for a in function.schema.arguments)  # how 1.7 spells its list
        skipped = {str(function.written), f"{function.cpp_name}({types})"} & self._signatures
        return not self._skipped.fullmatch(function.cpp_name) and not skipped

    def places(self, function: Function) -> Iterator[tuple[str, str]]:
        """The Python name and the generated file of each binding that an operator's variants and module lead to."""
        module = function.python_module
        if module is not None:
            if module in self.owners:
                yield f"{self.owners[module]}.{function.base}", f"python_{module}_functions.cpp"
            return
        if "method" in function.variants:
            yield f"torch.Tensor.{function.base}", METHODS
        if "function" in function.variants:
            file = shards.name_of(TORCH, shards.shard_of(function.schema.name.root, self._shards)) if self._shards else TORCH
            yield f"torch.{function.base}", file

    def all(self, functions: Iterable[Function], deprecated: Iterable[DeprecatedSignature]) -> Bindings:
        """The bindings of each operator; those of deprecated signatures come after the others."""
        found: Bindings = defaultdict(list)
        by_base: dict[str, list[Function]] = defaultdict(list)
        for function in functions:
            if self.bound(function):
                by_base[function.base].append(function)
                self._bind(function, found, deprecated=False)
        for row in deprecated:
            name = row.function.replace("_out", "") if row.function.endswith("_out") else row.function
            for function in by_base.get(name, ()):
                if stands_for(row, function.schema):
                    self._bind(function, found, deprecated=True)
        return found

    def _bind(self, function: Function, found: Bindings, *, deprecated: bool) -> None:
        for python, file in self.places(function):
            binding = Binding(python, f"THPVariable_{function.base}", file, deprecated, None, self._generator)
            if binding not in found[function.name]:
                found[function.name].append(binding)


def stands_for(row: DeprecatedSignature, schema: FunctionSchema) -> bool:
    """Whether the call of a deprecated signature fits an operator, by types and alias sets (is_schema_compatible)."""
    known = {a.name: a for a in row.schema.arguments}
    arguments = list(schema.arguments)
    if row.function.endswith("_out"):
        arguments = [*schema.out, *(a for a in arguments if not a.is_out)]
    for index, argument in enumerate(arguments):
        if index >= len(row.call):
            if argument.default is None:
                return False
            continue
        passed = known.get(row.call[index])
        if passed is None:
            if _CONSTANTS.get(row.call[index]) != argument.type or argument.aliases:
                return False
        elif passed.type != argument.type or (row.schema.has_returns and passed.annotation != argument.annotation):
            return False
    if not row.schema.has_returns:  # up to 1.7 the file has neither returns nor alias sets
        return True
    ours = [(r.type, r.annotation, r.name) for r in row.schema.returns]
    return ours == [(r.type, r.annotation, r.name) for r in schema.returns]
