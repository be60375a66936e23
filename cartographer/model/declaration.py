# SPDX-License-Identifier: BSD-3-Clause
"""The rows of PyTorch's yaml files as values, with the line that each key is on.

native_functions.yaml, derivatives.yaml, tags.yaml (all under aten/src/ATen/native or tools/autograd) and
deprecated.yaml; the meaning of the keys is that of torchgen/model.py and tools/autograd/load_derivatives.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cartographer.model.location import Location
    from cartographer.model.schema import FunctionSchema, OperatorName


@dataclass(frozen=True, slots=True)
class DispatchEntry:
    """One dispatch key of an operator's own block and the kernel it names.

    `kernel` is as written, `custom::f` included; `group` is the whole key, "CPU, CUDA". A row with no block at all
    has one implied entry (CompositeImplicitAutograd; `CatchAll` in releases that knew no composite keys).
    """

    key: str
    kernel: str
    place: Location
    implied: bool = False
    group: str = ""


@dataclass(frozen=True, slots=True)
class UfuncInnerLoop:
    """One line of `ufunc_inner_loop`: `Generic: add (AllAndComplex, BFloat16)`."""

    key: str
    name: str
    dtypes: tuple[str, ...]
    place: Location


@dataclass(frozen=True, slots=True)
class NativeFunction:
    """One row of native_functions.yaml: the declaration of an operator overload."""

    schema: FunctionSchema
    place: Location  # of the `- func:` line; end_line is the row's last
    variants: tuple[str, ...] = ("function",)
    dispatch: tuple[DispatchEntry, ...] | None = None  # None: no `dispatch` key; (): `dispatch: {}`
    tags: tuple[str, ...] = ()
    structured: bool = False
    structured_delegate: str | None = None
    structured_inherits: str | None = None
    autogen: tuple[OperatorName, ...] = ()
    ufunc_inner_loop: tuple[UfuncInnerLoop, ...] = ()
    precomputed: tuple[str, ...] = ()
    cpp_no_default_args: tuple[str, ...] = ()
    python_module: str | None = None
    category_override: str | None = None
    manual_cpp_binding: bool = False
    manual_kernel_registration: bool = False
    use_const_ref_for_mutable_tensors: bool = False
    device_check: str | None = None
    device_guard: bool = True
    other: Mapping[str, str] = field(default_factory=dict)  # keys that we do not interpret, as written
    lines: Mapping[str, int] = field(default_factory=dict)  # key -> line it stands on

    @property
    def name(self) -> OperatorName:
        """The operator's name, as its schema has it."""
        return self.schema.name

    @property
    def in_structured_group(self) -> bool:
        """Whether it is structured or delegates to a structured operator."""
        return self.structured or self.structured_delegate is not None

    def kernel(self, key: str) -> str | None:
        """The kernel that its own block names for a dispatch key, as written."""
        return next((e.kernel for e in self.dispatch or () if e.key == key), None)


@dataclass(frozen=True, slots=True)
class DerivativeFormula:
    """One key of a derivatives.yaml row: for the arguments (`self, other`) or, forward-mode, the results in `names`."""

    names: tuple[str, ...]
    text: str
    place: Location
    forward: bool = False


@dataclass(frozen=True, slots=True)
class DerivativeSet:
    """The formulas for one autograd dispatch key, in the row's order; `Default` is the alias key Autograd."""

    key: str
    formulas: tuple[DerivativeFormula, ...]
    place: Location


@dataclass(frozen=True, slots=True)
class Derivative:
    """One row of derivatives.yaml: the gradient formulas of an operator overload."""

    schema: FunctionSchema
    place: Location
    sets: tuple[DerivativeSet, ...]
    output_differentiability: tuple[bool | str, ...] | None = None  # a string is a condition in C++
    other: Mapping[str, str] = field(default_factory=dict)  # keys that we do not interpret, as written
    lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> OperatorName:
        """The operator's name, as its schema has it."""
        return self.schema.name


@dataclass(frozen=True, slots=True)
class TagRow:
    """One row of tags.yaml: a tag that operators may carry, with its description."""

    tag: str
    description: str
    place: Location


@dataclass(frozen=True, slots=True)
class DeprecatedSignature:
    """One row of deprecated.yaml: a Python signature kept for old callers, and the call it stands for."""

    schema: FunctionSchema
    aten: str  # "add(self, other, alpha)"
    place: Location

    @property
    def function(self) -> str:
        """The C++ function that it calls: `add`, `add_out`."""
        return self.aten.partition("(")[0].strip()

    @property
    def call(self) -> tuple[str, ...]:
        """The arguments of that C++ call: names from the schema, or constants."""
        inner = self.aten.partition("(")[2].rpartition(")")[0]
        return tuple(part.strip() for part in inner.split(",") if part.strip())


@dataclass(frozen=True, slots=True)
class Declarations:
    """All rows of the yaml files of one PyTorch, those of each file in the order of that file."""

    functions: tuple[NativeFunction, ...]
    derivatives: tuple[Derivative, ...] = ()
    tags: tuple[TagRow, ...] = ()
    deprecated: tuple[DeprecatedSignature, ...] = ()
