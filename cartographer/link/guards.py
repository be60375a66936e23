# SPDX-License-Identifier: BSD-3-Clause
"""Decides whether a `#if` condition holds in the build that an atlas describes.

The build is the usual release one: every optional library of its platform found, newest versions, no mobile, no debug.
What no rule decides stays open (`None`): both sides count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from cartographer.expand.conditions import NEWEST, combined, evaluate
from cartographer.link.platforms import BY_DEVICE, SWITCHES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Platforms and builds that a release for servers and desktops is not.
_OFF = re.compile(
    r"USE_ROCM\w*|ROCM_\w+|__HIP\w*|HIP_\w+|_?WIN(32|64)|_WIN\w*|_MSC_VER|__msvc_cl__|C10_MOBILE\w*|\w*ANDROID\w*|C10_IOS|TARGET_OS\w*|"
    r"BUILD_LAZY_\w+|AT_POCKETFFT_ENABLED|FBCODE_\w+|USE_FBCODE\w*|DEBUG\w*|\w+_DEBUG|USE_VULKAN\w*|USE_PYTORCH_METAL\w*|AT_ROCM_ENABLED|"
    r"STRIP_ERROR_MESSAGES|TORCH_ASSERT_NO_OPERATORS|AT_PER_OPERATOR_HEADERS|__EMSCRIPTEN__|__s390x__|__powerpc\w*|"
    r"\w*KLEIDIAI\w*|\w*MKLDNN_ACL\w*|"  # libraries for Arm's processors
    r"CPU_CAPABILITY_SVE\w*|CAFFE2_STATIC_\w+|BUILD_LITE_INTERPRETER|TORCH_VITAL\w*|USE_MIOPEN|ATEN_CPU_STATIC_DISPATCH"
)
_ON = re.compile(
    r"USE_\w+|AT_\w+_ENABLED|AT_BUILD_WITH_\w+|AT_USE_\w+|HAVE_\w+|NDEBUG|__cplusplus|__GNUC__|BUILD_\w+|_OPENMP|__ELF__|"
    r"IS_\w+_AVAILABLE|CUB_SUPPORTS_\w+"
)
_VERSION = re.compile(r"\w*_VERSION(_MAJOR)?|__METAL_VERSION__|__cplusplus")
_ACCELERATOR = re.compile(rf"USE_({'|'.join(SWITCHES)})")  # a build has one of them; what stands under another one's switch is shown as such
_APPLE = frozenset(("__APPLE__", "__OBJC__", "__aarch64__", "__arm__", "__ARM_NEON__"))


@dataclass(frozen=True)
class World:
    """The macros that are true in the build for one device; `constants` are those that the tree gives truth values, with the conditions of each."""

    device: str = "cpu"
    constants: Mapping[str, tuple[tuple[bool, tuple[str, ...]], ...]] = field(default_factory=dict)
    open_switches: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)  # what the tree defines under conditions: those of each definition
    decides: bool = False  # whether such a switch is on where its conditions hold; else both sides of it count
    _seen: dict[tuple[str, ...], bool | None] = field(default_factory=dict, repr=False, compare=False)
    _values: dict[str, bool | None] = field(default_factory=dict, repr=False, compare=False)
    _asked: set[str] = field(default_factory=set, repr=False, compare=False)  # switches whose conditions are being looked at

    def holds(self, name: str) -> bool | None:
        """Whether a macro is defined and true in this build; None when that stays open."""
        platform = BY_DEVICE.get(self.device, BY_DEVICE["cuda"])  # code of devices that have no row is looked at as in a CUDA build
        own = platform.macros if platform.device == self.device else None
        if own is not None and own.fullmatch(name):
            return True
        if name in self.open_switches and not _OFF.fullmatch(name):
            return self._switched_on(name) if self.decides else None
        if _OFF.fullmatch(name):
            return False
        if (accelerator := _ACCELERATOR.fullmatch(name)) is not None:
            return True if accelerator[1] == platform.switch else None
        if name in self.constants and (settled := self._settled(name)) is not None:
            return settled
        if name in _APPLE:
            return self.device == "mps"
        return True if _ON.fullmatch(name) else None

    @cached_property
    def usual(self) -> World:
        """The same build with the `USE_…` switches as the tree's own headers set them; what they rule out is for other versions of libraries."""
        return World(self.device, self.constants, self.open_switches, decides=True)

    def _switched_on(self, name: str) -> bool | None:
        """Whether the tree defines a switch in this build; None when its conditions cannot be told."""
        if name in self._asked:
            return None  # `#ifndef USE_X` around its own definition
        self._asked.add(name)
        try:
            told = [self.allows(guards) for guards in self.open_switches[name]]
            return True if True in told else None if not told or None in told else False
        finally:
            self._asked.discard(name)

    def _settled(self, name: str) -> bool | None:
        """The truth value that the tree gives a macro in this build; None when that cannot be told."""
        told = self.constants[name]
        if len({truth for truth, _ in told}) == 1:
            return told[0][0]
        if name in self._asked:
            return None
        self._asked.add(name)
        try:
            left = {truth for truth, guards in told if self.allows(guards) is not False}
        finally:
            self._asked.discard(name)
        return next(iter(left)) if len(left) == 1 else None

    def value(self, name: str) -> int | None:
        """The number that a macro stands for in a comparison; version macros stand for the newest version."""
        if name == "__CUDA_ARCH__":
            return None
        if name in ("true", "false"):
            return int(name == "true")
        truth = self.holds(name)
        if truth is False:
            return 0
        if _VERSION.fullmatch(name):
            return NEWEST
        return None if truth is None else 1

    def allows(self, guards: Iterable[str]) -> bool | None:
        """Whether all conditions around a place hold: True, False, or None when some stay open."""
        key = tuple(guards)
        if not key:
            return True
        if key not in self._seen:
            self._seen[key] = combined([self.evaluate(condition) for condition in key])
        return self._seen[key]

    def evaluate(self, condition: str) -> bool | None:
        """The value of one `#if` condition; None when it stays open."""
        if condition not in self._values:
            self._values[condition] = evaluate(condition, self.value, self._defined)
        return self._values[condition]

    def _defined(self, name: str) -> int | None:
        truth = self.holds(name)
        return None if truth is None else int(truth)
