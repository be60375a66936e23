# SPDX-License-Identifier: BSD-3-Clause
"""What two whole atlases are compared by, beyond their operator lists: bindings, kernels, Nodes and function bodies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cartographer.model.operator import Chain


@dataclass(frozen=True, slots=True)
class ComparedOperator:
    """One overload: its bindings (Python name -> function and file), what serves it, its Nodes, its own way to the device."""

    name: str
    bindings: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    dispatch: Mapping[str, str] = field(default_factory=dict)
    nodes: tuple[str, ...] = ()
    chains: Mapping[str, Chain] = field(default_factory=dict)  # backend -> steps before it enters another operator
    callers: tuple[str, ...] = ()  # operators whose code calls it


@dataclass(frozen=True, slots=True)
class ComparedAtlas:
    """What is compared of one atlas. `bodies`: path -> line of a step -> the statements of the function there, as `compare.bodies` packs them."""

    operators: Mapping[str, ComparedOperator]
    bodies: Mapping[str, Mapping[int, bytes]] = field(default_factory=dict)
    wheel: bool = False  # read from one: what C++ code alone says is not in it, which is no change
