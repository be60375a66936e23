# SPDX-License-Identifier: BSD-3-Clause
"""Value types for what is registered by hand, before it is joined with what torchgen registers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cartographer.model.atlas import Unresolved
    from cartographer.model.location import Location
    from cartographer.model.operator import Origin


@dataclass(frozen=True, slots=True)
class Defined:
    """An operator that a library block or Python defines. `schema` is None when only its name is given and PyTorch
    infers the schema from the function's C++ type.
    """

    name: str  # quantized::add.out
    schema: str | None
    origin: Origin
    place: Location
    build: tuple[str, ...] = ()
    function: str = ""  # the function that the schema is inferred from
    tags: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()  # switches of the stock build that a build can lack: xnnpack, mkldnn, cuda


@dataclass(frozen=True, slots=True)
class Registered:
    """A kernel for one operator and key. `name` has the overload, or ends with ".*" for all overloads of a name."""

    name: str
    key: str
    kernel: str | None
    origin: Origin
    place: Location
    build: tuple[str, ...] = ()
    fallthrough: bool = False
    boxed: bool = False
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Fallback:
    """A backend fallback: the kernel that serves a key for every operator without a kernel of its own for that key."""

    key: str
    kernel: str | None
    fallthrough: bool
    place: Location
    build: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScriptOperator:
    """An operator that exists for TorchScript only; the dispatcher does not know it."""

    name: str
    schema: str
    place: Location


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that is registered by hand, in C++ and in Python, in the order in which it runs."""

    defined: tuple[Defined, ...] = ()
    registered: tuple[Registered, ...] = ()
    fallbacks: tuple[Fallback, ...] = ()
    script: tuple[ScriptOperator, ...] = ()
    unresolved: tuple[Unresolved, ...] = field(default=())

    def __add__(self, other: Findings) -> Findings:
        return Findings(
            self.defined + other.defined,
            self.registered + other.registered,
            self.fallbacks + other.fallbacks,
            self.script + other.script,
            self.unresolved + other.unresolved,
        )
