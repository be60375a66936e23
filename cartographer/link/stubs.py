# SPDX-License-Identifier: BSD-3-Clause
"""Reads dispatch stubs: where each is declared and defined, and which kernel serves it on which device and CPU capability.

The macros are those of aten/src/ATen/native/DispatchStub.h: which device or CPU capability each registers for, the tree's
own definitions say. What `REGISTER_DISPATCH` means depends on the file: CUDA in a .cu, MPS in a .mm, a CPU kernel for each
capability elsewhere (but not for AVX512).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cartographer.link.index import bare, device_of, segments
from cartographer.link.names import namespace_rank
from cartographer.model.atlas import Stub

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.link.guards import World
    from cartographer.model.fact import FileFacts, MacroUse

_MACRO = re.compile(r"(DECLARE|DEFINE)_DISPATCH|(?:ALSO_)?REGISTER(?:_(\w+?))??(?:_CPU)?_DISPATCH")
_OF_A_NAME = re.compile(r"\bREGISTER\w*_DISPATCH\s*\([^,()]*##")  # what another macro's body registers: a stub whose name it puts together
_NULL = frozenset(("nullptr", "NULL", "0"))
# What the macros are made of: `static RegisterCUDADispatch<struct name##_type> name##__register(name, fn);`, or one of the capabilities.
_FOR_DEVICE = re.compile(r"\bRegister(\w+)Dispatch\s*<")
_FOR_CAPABILITY = re.compile(r"\s*REGISTER_ARCH_DISPATCH\(\s*\w+,\s*(\w+),\s*\w+\)\s*;?\s*")
_EVERY = "CPU_CAPABILITY"  # the one that a file is being compiled for
_Target = tuple[str, str]  # device and capability


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
        """Whether it registers a nullptr: the device has no kernel on purpose."""
        return not self.kernel


@dataclass(slots=True)
class StubPlaces:
    """The declarations, definitions and registrations of one stub; two namespaces may each have a stub of one name (`copy_stub`)."""

    name: str
    namespace: tuple[str, ...] = ()
    declared: list[tuple[str, int]] = field(default_factory=list)
    defined: list[tuple[str, int]] = field(default_factory=list)
    registrations: list[StubRegistration] = field(default_factory=list)


def is_stub_macro(name: str) -> bool:
    """Whether a macro declares, defines or registers a stub."""
    return _MACRO.fullmatch(name) is not None


def putting_together(files: Mapping[str, FileFacts]) -> frozenset[str]:
    """The macros that are called like those which register a stub, but put together the names of what they register: `REGISTER_DISPATCH(NAME##_stub, …)` in
    the body of REGISTER_UNARY_TI_DISPATCH.
    """
    macros = (m for facts in files.values() for m in facts.macros if "_DISPATCH" in m.name and "##" in m.body)
    return frozenset(m.name for m in macros if _OF_A_NAME.search(m.body) is not None)


class Stubs:
    """All dispatch stubs of a tree, found by name and namespace."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[StubPlaces]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self.by_name

    def find(self, written: str, scope: tuple[str, ...]) -> StubPlaces | None:
        """The stub that a name means when it is written inside the namespace `scope`; None when there is no such stub."""
        known = self.by_name.get(bare(written), [])
        if len(known) < 2:
            return known[0] if known else None
        wanted = segments(written)
        ranked = sorted((rank, number) for number, s in enumerate(known) if (rank := namespace_rank((*s.namespace, s.name), wanted, scope)) is not None)
        return known[ranked[0][1]] if ranked else known[0]

    def place(self, written: str, scope: tuple[str, ...], *, create: bool) -> StubPlaces:
        """The stub of a name; a new one when it is not known (or, with `create`, not known in this very namespace)."""
        name = bare(written)
        if create:
            for known in self.by_name.get(name, ()):
                if known.namespace == scope:
                    return known
        elif (found := self.find(written, scope)) is not None:
            return found
        made = StubPlaces(name, scope)
        self.by_name.setdefault(name, []).append(made)
        return made

    def all(self) -> list[StubPlaces]:
        """All stubs, sorted by name."""
        return [places for name in sorted(self.by_name) for places in self.by_name[name]]


def stubs_of(files: Mapping[str, FileFacts], made: Mapping[str, tuple[MacroUse, ...]]) -> Stubs:
    """Collect all dispatch stubs of a tree; `made` are the macro uses that come out of other macros, by file."""
    stubs = Stubs()
    targets = _targets_of(files)
    others = putting_together(files)
    uses = [
        (path, use) for path in sorted(files) if not path.startswith(("test/", "docs/")) and "/test/" not in path
        for use in (*files[path].uses, *made.get(path, ())) if "_DISPATCH" in use.name and use.name not in others and _MACRO.fullmatch(use.name) and use.arguments
    ]  # fmt: skip
    for words in ("DECLARE_", "DEFINE_", ""):
        for path, use in uses:
            if use.name.startswith(words) if words else "REGISTER" in use.name:
                _take(stubs, path, use, targets)
    return stubs


def _targets_of(files: Mapping[str, FileFacts]) -> dict[str, _Target | None]:
    """What each `REGISTER_…_DISPATCH` of a tree is for, by its body; None where that is of another form."""
    targets: dict[str, _Target | None] = {}
    for path in sorted(files):
        for macro in files[path].macros:
            if "REGISTER_" in macro.name and macro.name != "REGISTER_DISPATCH" and _MACRO.fullmatch(macro.name):
                targets[macro.name] = _target(macro.body) or targets.get(macro.name)
    return targets


def _target(body: str) -> _Target | None:
    if (device := _FOR_DEVICE.search(body)) is not None:
        return device[1].lower(), ""
    one = _FOR_CAPABILITY.fullmatch(body)
    return ("cpu", "" if one[1] == _EVERY else one[1]) if one is not None else None


def _take(stubs: Stubs, path: str, use: MacroUse, targets: Mapping[str, _Target | None]) -> None:
    arguments = [a.strip() for a in use.arguments]
    namespace = segments(use.namespace) if use.namespace else ()
    if use.name in ("DECLARE_DISPATCH", "DEFINE_DISPATCH"):
        declared = use.name == "DECLARE_DISPATCH"
        name = bare(arguments[-1])
        places = stubs.place(name, namespace, create=True)
        (places.declared if declared else places.defined).append((path, line_of(use, name)))
        return
    name = bare(arguments[0])
    kernel = "" if "NO_CPU" in use.name or len(arguments) < 2 else re.sub(r"\s*(::|&)\s*", r"\1", arguments[-1]).lstrip("&").strip()
    kernel = "" if kernel in _NULL else kernel
    device, capability = _served(use.name, arguments, path, targets)
    registration = StubRegistration(name, device, capability, kernel, path, line_of(use, name), use, use.name)
    stubs.place(re.sub(r"\s", "", arguments[0]), namespace, create=False).registrations.append(registration)


def _served(macro: str, arguments: list[str], path: str, targets: Mapping[str, _Target | None]) -> _Target:
    """The device and the capability that a registration is for: by its macro, or by its file."""
    word = macro.removeprefix("REGISTER_").removesuffix("DISPATCH").strip("_")
    if word == "ARCH":
        return "cpu", arguments[1] if len(arguments) > 2 else ""
    if word.endswith("CPU"):
        return "cpu", ""
    by_name = None if not word or macro.startswith("ALSO_") else (word.lower(), "")  # of a macro that the tree does not define
    if (told := targets.get(macro, by_name)) is not None:
        return told
    if path.endswith((".cu", ".cuh", ".mm")):
        return ("mps" if path.endswith(".mm") else "cuda"), ""
    device = device_of(path)
    return (device if device in ("xpu", "hip") else "cpu"), "not AVX512"


def line_of(use: MacroUse, word: str) -> int:
    """The line of a macro use that contains a word; the first line of the use when none does."""
    if "\n" not in use.text:
        return use.line
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


def as_values(stubs: Stubs) -> tuple[Stub, ...]:
    """The stubs as the atlas stores them."""
    return tuple(_value(places) for places in stubs.all())


def _value(places: StubPlaces) -> Stub:
    rows: Iterable[tuple[str, str, str, int]] = (
        (r.device + (f" {r.capability}" if r.capability else ""), r.kernel or "nullptr", r.path, r.line) for r in places.registrations
    )
    return Stub(places.name, tuple(places.declared), tuple(places.defined), tuple(rows))
