# SPDX-License-Identifier: BSD-3-Clause
"""Finds the places that every call passes, whatever the operator, by name among the atlas' symbols.

Only names of PyTorch's architecture stand here; where they are is looked up, and what is not found is not shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.model.atlas import Symbol
    from cartographer.render.pages.frame import Receipt
    from cartographer.render.site import Site


@dataclass(frozen=True, slots=True)
class Landmark:
    """A place that every call passes, found in this PyTorch."""

    symbol: str
    says: str
    receipt: Receipt
    address: str | None


@dataclass(frozen=True, slots=True)
class _Sought:
    """What to look for: the file, the end of the qualified name ("" for the file alone), and what to say."""

    paths: tuple[str, ...]
    symbol: str
    says: str


_SOUGHT = {
    "python names": _Sought(("torch/__init__.py",), "", "The package's names."),
    "torch.ops": _Sought(("torch/_ops.py",), "OpOverloadPacket", "torch.ops finds the operator by its name."),
    "operators template": _Sought(("aten/src/ATen/templates/Operators.cpp",), "", "The template of the generated structs."),
    "dispatcher": _Sought(("aten/src/ATen/core/dispatch/Dispatcher.h",), "Dispatcher::call", "The dispatcher's entry."),
    "memory CUDA": _Sought(
        ("c10/cuda/CUDACachingAllocator.cpp",), "NativeCachingAllocator::allocate",
        "The result needs room. A block that was freed before is handed out again; the driver is asked only when none fits.",
    ),
    "memory CPU": _Sought(("c10/core/CPUAllocator.cpp",), "DefaultCPUAllocator::allocate", "The result needs room: aligned memory of the process."),
    "memory MPS": _Sought(
        ("aten/src/ATen/mps/MPSAllocator.mm",), "MPSHeapAllocatorImpl::malloc", "The result needs room on a heap of the device.",
    ),
    "queue CUDA": _Sought(
        ("c10/cuda/CUDAStream.cpp",), "getCurrentCUDAStream",
        "The launch joins the end of the current stream. Python is already on its way back.",
    ),
    "queue MPS": _Sought(
        ("aten/src/ATen/mps/MPSStream.mm",), "getCurrentMPSStream", "The work is encoded into the current command buffer.",
    ),
}  # fmt: skip


def landmark(site: Site, name: str) -> Landmark | None:
    """The place of that name; None when this PyTorch has none."""
    if name not in site.landmarks:
        site.landmarks[name] = _look(site, name)
    return site.landmarks[name]


def _look(site: Site, name: str) -> Landmark | None:
    sought = _SOUGHT.get(name)
    if sought is None:
        return None
    for path in sought.paths:
        if path not in site.catalog.by_path:
            continue
        if not sought.symbol:
            return Landmark(path, sought.says, site.receipt(path), site.place(path))
        symbol = _find(site.catalog.symbols.get(path, ()), sought.symbol)
        if symbol:
            return Landmark(sought.symbol, sought.says, site.receipt(path, symbol.line), site.place(path, symbol.line))
    return None


def _find(symbols: Sequence[Symbol], wanted: str) -> Symbol | None:
    fitting = [s for s in symbols if s.qualname == wanted or s.qualname.endswith("::" + wanted)]
    solid = [s for s in fitting if s.kind != "declaration" and s.end_line > s.line]
    return next(iter(solid or fitting), None)
