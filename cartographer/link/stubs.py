# SPDX-License-Identifier: BSD-3-Clause
"""Dispatch stubs: where each is declared and defined, and which kernel serves it on which device and CPU capability.

The macros are those of aten/src/ATen/native/DispatchStub.h. What `REGISTER_DISPATCH` means depends on the file: CUDA in
a .cu, MPS in a .mm, a CPU kernel for each capability elsewhere (but not for AVX512).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cartographer.link.index import bare, device_of
from cartographer.model.atlas import Stub

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.link.guards import World
    from cartographer.model.fact import FileFacts, MacroUse

_MACRO = re.compile(r"(DECLARE|DEFINE)_DISPATCH|(?:ALSO_)?REGISTER(?:_(\w+?))??(?:_CPU)?_DISPATCH")
_NULL = frozenset(("nullptr", "NULL", "0"))
_CAPABILITIES = ("DEFAULT", "AVX", "AVX2", "AVX512", "VSX", "ZVECTOR", "SVE", "SVE256")
_DEVICES = {"CUDA": "cuda", "HIP": "hip", "MPS": "mps", "XPU": "xpu", "MTIA": "mtia", "HPU": "hpu", "PRIVATEUSE1": "privateuse1"}


@dataclass(frozen=True, slots=True)
class StubRegistration:
    """One `REGISTER_…DISPATCH(stub, kernel)`: `kernel` is "" for a nullptr; `capability` "" means every one."""

    stub: str
    device: str
    capability: str
    kernel: str
    path: str
    line: int
    use: MacroUse
    macro: str

    @property
    def missing(self) -> bool:
        """Whether it says on purpose that there is no kernel."""
        return not self.kernel


@dataclass(slots=True)
class StubPlaces:
    """Everything about one stub, by the name that a caller writes last."""

    name: str
    declared: list[tuple[str, int]] = field(default_factory=list)
    defined: list[tuple[str, int]] = field(default_factory=list)
    registrations: list[StubRegistration] = field(default_factory=list)


def is_stub_macro(name: str) -> bool:
    """Whether a macro declares, defines or registers a stub."""
    return _MACRO.fullmatch(name) is not None


def stubs_of(files: Mapping[str, FileFacts], made: Mapping[str, tuple[MacroUse, ...]]) -> dict[str, StubPlaces]:
    """All stubs of a tree by name; `made` are the uses that other macros make, by file."""
    stubs: dict[str, StubPlaces] = {}
    for path in sorted(files):
        if path.startswith(("test/", "docs/")):
            continue
        for use in (*files[path].uses, *made.get(path, ())):
            if "_DISPATCH" in use.name:
                _take(stubs, path, use)
    return stubs


def _take(stubs: dict[str, StubPlaces], path: str, use: MacroUse) -> None:
    match = _MACRO.fullmatch(use.name)
    if match is None or not use.arguments:
        return
    arguments = [a.strip() for a in use.arguments]
    if match[1]:
        name = bare(arguments[-1])
        places = stubs.setdefault(name, StubPlaces(name))
        (places.declared if match[1] == "DECLARE" else places.defined).append((path, line_of(use, name)))
        return
    name = bare(arguments[0])
    kernel = "" if "NO_CPU" in use.name or len(arguments) < 2 else arguments[-1].lstrip("&").strip()
    kernel = "" if kernel in _NULL else kernel
    device, capability = _served(use.name, arguments, path)
    registration = StubRegistration(name, device, capability, kernel, path, line_of(use, name), use, use.name)
    stubs.setdefault(name, StubPlaces(name)).registrations.append(registration)


def _served(macro: str, arguments: list[str], path: str) -> tuple[str, str]:
    """The device and the capability that a registration is for."""
    word = macro.removeprefix("ALSO_").removeprefix("REGISTER_").removesuffix("DISPATCH").strip("_")
    if word in _DEVICES:
        return _DEVICES[word], ""
    if word == "ARCH":
        return "cpu", arguments[1] if len(arguments) > 2 else ""
    if word in _CAPABILITIES and not macro.startswith("ALSO_"):
        return "cpu", word
    if word.endswith("CPU"):
        return "cpu", ""
    if path.endswith((".cu", ".cuh")):
        return "cuda", ""
    if path.endswith(".mm"):
        return "mps", ""
    device = device_of(path)
    return (device if device in ("xpu", "hip") else "cpu"), ("" if macro.startswith("ALSO_") else "not AVX512")


def line_of(use: MacroUse, word: str) -> int:
    """The line of a macro use that holds a word; its first line when none does."""
    pattern = re.compile(rf"\b{re.escape(word)}\b")
    for offset, text in enumerate(use.text.split("\n")):
        if pattern.search(text):
            return use.line + offset
    return use.line


def serving(places: StubPlaces, device: str, world: World) -> tuple[StubRegistration, ...]:
    """The registrations for a device that take effect, the one of the widest use first: a real kernel before nullptr,
    the default capability before special ones, the eager library before a lazily loaded twin.
    """
    mine = [r for r in places.registrations if r.device == device]
    scored = []
    for order, registration in enumerate(mine):
        allowed = world.allows(registration.use.guards)
        if allowed is False:
            continue
        lazy = "lazy" in registration.kernel.lower()
        special = registration.capability not in ("", "DEFAULT", "not AVX512")
        # A CUDA kernel registered from a .cu or cuda folder comes before its MIOpen twin.
        twin = "miopen" in registration.path or "hip/" in registration.path
        scored.append(((registration.missing, lazy, twin, special, allowed is None), order, registration))
    scored.sort(key=lambda item: item[:2])
    return tuple(registration for _, _, registration in scored)


def as_values(stubs: Mapping[str, StubPlaces]) -> tuple[Stub, ...]:
    """The stubs as the atlas keeps them."""
    return tuple(_value(stubs[name]) for name in sorted(stubs))


def _value(places: StubPlaces) -> Stub:
    rows: Iterable[tuple[str, str, str, int]] = (
        (r.device + (f" {r.capability}" if r.capability else ""), r.kernel or "nullptr", r.path, r.line) for r in places.registrations
    )
    return Stub(places.name, tuple(places.declared), tuple(places.defined), tuple(rows))
