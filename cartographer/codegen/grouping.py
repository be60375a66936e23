# SPDX-License-Identifier: BSD-3-Clause
"""Groups the variants of one operator: functional, in place and out; or a view, its in-place form and its copying variant.

torchgen/native_function_generation.py (pre_group_native_functions), torchgen/model.py (NativeFunctionsGroup,
NativeFunctionsViewGroup), torchgen/gen.py (get_grouped_by_view_native_functions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.model.schema import SchemaKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cartographer.codegen.function import Function


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Variants of one operator; a group has at least a functional and an out variant."""

    functional: Function
    out: Function
    inplace: Function | None = None
    mutable: Function | None = None

    @property
    def structured(self) -> bool:
        """Whether the out variant of the group is structured."""
        return self.out.structured

    @property
    def functions(self) -> tuple[Function, ...]:
        """The functions in the group, in torchgen's order."""
        return tuple(f for f in (self.functional, self.out, self.inplace, self.mutable) if f is not None)

    @property
    def meta_class(self) -> str:
        """The C++ class of the group's shape function: `at::meta::structured_add_Tensor` (torchgen/api/meta.py, name)."""
        return f"at::meta::structured_{self.functional.name.replace('.', '_')}"


@dataclass(frozen=True, slots=True, eq=False)
class ViewGroup:
    """A view with its in-place form and its copying variant."""

    view: Function
    inplace: Function | None = None
    copy: Function | None = None

    @property
    def functions(self) -> tuple[Function, ...]:
        """The functions in the group, in torchgen's order."""
        return tuple(f for f in (self.view, self.inplace, self.copy) if f is not None)


def by_signature(functions: Iterable[Function]) -> dict[str, dict[SchemaKind, Function]]:
    """The variants of each operator, by signature and kind. A second variant of one kind, as old releases have, is left out."""
    groups: dict[str, dict[SchemaKind, Function]] = {}
    for function in functions:
        groups.setdefault(function.signature, {}).setdefault(function.kind, function)
    return groups


def grouped(functions: Iterable[Function]) -> Iterator[Group | Function]:
    """Split functions into groups of variants, and those that belong to no group: also a second variant of one kind."""
    functions = tuple(functions)
    groups = by_signature(functions)
    yield from (f for f in functions if groups[f.signature][f.kind] is not f)
    for variants in groups.values():
        functional = variants.get(SchemaKind.FUNCTIONAL)
        out = variants.get(SchemaKind.OUT)
        if functional is None or out is None:
            yield from variants.values()
        else:
            yield Group(functional, out, variants.get(SchemaKind.INPLACE), variants.get(SchemaKind.MUTABLE))


def by_view(functions: Iterable[Function]) -> Iterator[ViewGroup | Function]:
    """Split functions into view groups, and those that belong to no view group."""
    groups: dict[str, dict[str, Function]] = {}
    for function in functions:
        kind = function.kind.value
        if function.is_view:
            kind = "aliasing_inplace" if function.schema.name.inplace else "aliasing"
        groups.setdefault(function.view_signature, {}).setdefault(kind, function)
    for members in groups.values():
        view = members.pop("aliasing", None)
        if view is not None:
            copy = members.pop(SchemaKind.FUNCTIONAL.value, None)
            yield ViewGroup(view, members.pop("aliasing_inplace", None), copy)
        yield from members.values()
