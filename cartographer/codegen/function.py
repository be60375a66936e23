# SPDX-License-Identifier: BSD-3-Clause
"""An operator as the generators see it: a row of native_functions.yaml, or one that torchgen adds, with its kernels by dispatch key.

torchgen/model.py: NativeFunction, BackendMetadata, FunctionSchema.signature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cartographer.codegen.sources import Sources
    from cartographer.model.declaration import NativeFunction
    from cartographer.model.location import Location
    from cartographer.model.schema import Argument, FunctionSchema, SchemaKind

IMPLICIT = "CompositeImplicitAutograd"
IMPLICIT_NESTED = "CompositeImplicitAutogradNestedTensor"
EXPLICIT = "CompositeExplicitAutograd"
NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
COMPOSITES = (IMPLICIT, IMPLICIT_NESTED, EXPLICIT, NON_FUNCTIONAL)

_OPTIONS = (("dtype", "ScalarType"), ("layout", "Layout"), ("device", "Device"), ("pin_memory", "bool"))


@dataclass(frozen=True, slots=True)
class Kernel:
    """The kernel that a dispatch table names for one key: the function, its C++ namespace, and where it is named."""

    name: str
    namespace: str = "at::native"
    structured: bool = False
    place: Location | None = None  # None when torchgen implies it

    @property
    def symbol(self) -> str:
        """The full C++ symbol: `at::native::structured_add_out_mps`, `at::native::relu`."""
        return f"{self.namespace}::{'structured_' if self.structured else ''}{self.name}"

    @staticmethod
    def parse(written: str, *, structured: bool, place: Location) -> Kernel:
        """Parse a kernel's name as yaml has it: `custom::f` is in the namespace `custom::native` (torchgen/model.py, from_yaml)."""
        namespace, _, name = written.rpartition("::")
        return Kernel(name, f"{namespace or 'at'}::native", structured, place)


@dataclass(frozen=True, eq=False)
class Function:
    """One operator overload as the generators see it. Compared by identity."""

    row: NativeFunction  # its own row, or the one that it is generated from
    schema: FunctionSchema
    kernels: Mapping[str, Kernel]
    tags: frozenset[str]
    variants: tuple[str, ...]
    generated: bool
    is_abstract: bool
    rules: SchemaRules

    @property
    def name(self) -> str:
        """The name of the overload without namespace: `add_.Tensor`."""
        return self.schema.name.local

    @property
    def written(self) -> FunctionSchema:
        """Its schema as the release has it; that of `schema` bears an overload's name even where the list has none (rows.py)."""
        return self.schema if self.generated else self.row.schema

    @property
    def base(self) -> str:
        """The base name with its in-place underscore: `add_` of `add_.Tensor`."""
        return self.schema.name.base

    @cached_property
    def kind(self) -> SchemaKind:
        """The kind of its schema: functional, in place, out, mutable or scratch (torchgen/model.py, SchemaKind)."""
        return self.schema.kind

    @cached_property
    def is_out(self) -> bool:
        """Whether it has out arguments, to which it writes its results."""
        return bool(self.schema.out)

    @cached_property
    def cpp_name(self) -> str:
        """The name of its C++ function: the base name, with `_out` for out overloads (torchgen/api/cpp.py, name)."""
        return f"{self.base}_out" if self.is_out else self.base

    @property
    def implicit(self) -> bool:
        """Whether it has a CompositeImplicitAutograd kernel."""
        return IMPLICIT in self.kernels

    @property
    def composite(self) -> bool:
        """Whether any composite kernel serves it (has_composite_kernel)."""
        return any(key in self.kernels for key in (IMPLICIT, EXPLICIT, NON_FUNCTIONAL))

    @property
    def structured(self) -> bool:
        """Whether its row declares it as structured."""
        return self.row.structured and not self.generated

    @property
    def structured_delegate(self) -> str | None:
        """The structured operator that its row names as its delegate; None when there is none."""
        return None if self.generated else self.row.structured_delegate

    @property
    def manual_kernel_registration(self) -> bool:
        """Whether its kernels are registered by hand (yaml key manual_kernel_registration)."""
        return self.row.manual_kernel_registration and not self.generated

    @property
    def manual_cpp_binding(self) -> bool:
        """Whether its C++ function and method are written by hand (yaml key manual_cpp_binding)."""
        return self.row.manual_cpp_binding and not self.generated

    @property
    def python_module(self) -> str | None:
        """The Python module that binds it, `nn`, `fft`, `linalg`; None for `torch` itself."""
        return None if self.generated else self.row.python_module

    @cached_property
    def signature(self) -> str:
        """A text that its functional, in-place and out variants have in common (FunctionSchema.signature)."""
        return self.rules.signature(self.schema)

    @cached_property
    def plain_signature(self) -> str:
        """The same text as `signature`, but without the defaults of arguments."""
        return self.rules.signature(self.schema, defaults=False)

    @cached_property
    def view_signature(self) -> str:
        """A text that a view and its copying variant have in common (FunctionSchema.view_signature)."""
        return self.rules.signature(self.schema, view=True)

    @cached_property
    def is_view(self) -> bool:
        """Whether its result aliases an argument (NativeFunction.is_view_op)."""
        aliases = [a for r in self.schema.returns if (a := r.annotation) is not None]
        if any(not a.write for a in aliases):
            return True
        if "inplace_view" in self.tags and self.name not in self.rules.not_inplace_views:
            return True
        return any(a.annotation is not None and "*" in a.annotation.after for a in self.schema.arguments)


class SchemaRules:
    """How torchgen pairs schemas, with the parameters that torchgen/model.py of the pinned tree states."""

    def __init__(self, sources: Sources) -> None:
        view = sources.function("model.py", "NativeFunction.is_view_op")
        self.not_inplace_views = view.compared("str(self.func.name)") if view else frozenset()
        signature = sources.function("model.py", "FunctionSchema.signature")
        self._scatter = signature is not None and signature.mentions("_scatter")
        self._replaced: dict[str, tuple[str, str]] = {}
        for name in signature.compared("str(self.name)") if signature else ():
            for call in signature.calls("replace") if signature else ():
                texts = [a.value for a in call.args if hasattr(a, "value") and isinstance(a.value, str)]
                if len(texts) == 2 and "=" in texts[1]:
                    self._replaced[name] = (texts[0], texts[1])

    def signature(self, schema: FunctionSchema, *, defaults: bool = True, view: bool = False) -> str:
        """A text that is equal for schemas which torchgen treats as variants of one operator."""
        root = schema.name.root
        if view:
            if root.endswith("_copy"):
                root = root.replace("_copy", "")
            elif self._scatter and root.endswith("_scatter"):
                root = root.replace("scatter", "inverse")
        inputs = ", ".join(
            f"{a.type} {a.name}" + (f"={a.default}" if defaults and a.default is not None else "")
            for a in inputs_of(schema)
        )
        if schema.name.local in self._replaced:
            inputs = inputs.replace(*self._replaced[schema.name.local])
        returns = [r.type for r in schema.returns] + [a.type for a in mutable_inputs(schema)]
        dunder = "__" if schema.name.dunder else ""
        return f"{dunder}{root}({inputs}) -> ({', '.join(returns)})"


def inputs_of(schema: FunctionSchema) -> list[Argument]:
    """The arguments that variants have in common: out arguments and tensor options are left out."""
    keywords = list(schema.kwarg_only)
    options = tensor_options(schema)
    return [*schema.positional, *(a for a in keywords if a not in options)]


def tensor_options(schema: FunctionSchema) -> tuple[Argument, ...]:
    """The four keyword arguments dtype, layout, device, pin_memory in a row (TensorOptionsArguments), or nothing."""
    keywords = schema.kwarg_only
    for start in range(len(keywords) - len(_OPTIONS) + 1):
        window = keywords[start : start + len(_OPTIONS)]
        if all(a.name == n and a.type.removesuffix("?") == t for a, (n, t) in zip(window, _OPTIONS, strict=True)):
            return window
    return ()


def mutable_inputs(schema: FunctionSchema) -> list[Argument]:
    """The arguments that are written to and not returned: self, then outputs, then the positional ones after self."""
    self_argument = schema.self_argument
    after_self = list(schema.positional)
    if self_argument is not None:
        after_self = after_self[after_self.index(self_argument) + 1 :]
    candidates = [*([self_argument] if self_argument else []), *schema.out, *after_self]
    returned = [r.annotation for r in schema.returns]
    return [a for a in candidates if a.is_write and a.annotation not in returned]


def without_alias(argument: Argument) -> Argument:
    """A copy of an argument without its alias set."""
    return replace(argument, aliases=())
