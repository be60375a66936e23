# SPDX-License-Identifier: BSD-3-Clause
"""The devices that a tree has code for: the folders of each, and the build that its code is part of.

A tree names its backends (c10/core/DispatchKey.h), but nowhere says which folders are whose, nor that ROCm's build is made from
CUDA's files: one row here is all that a further device needs for its kernels to be told from those of the others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Platform:
    """One device, by the name of its dispatch key in small letters."""

    device: str
    folders: tuple[str, ...]  # whose files are for it alone
    switch: str | None = "CUDA"  # the USE_… of the accelerator that its build has; None for a build without one
    macros: re.Pattern[str] | None = None  # that hold in its build and may not in others

    @property
    def words(self) -> str:
        """How sources spell it, as a pattern: `is_cuda()`, `kCUDA`, `DeviceType::Vulkan`."""
        return f"{self.device}|{self.device.upper()}|{self.device.capitalize()}"


PLATFORMS = (
    Platform("cuda", ("cuda", "cudnn", "hip", "THC", "THCUNN"), macros=re.compile(r"__CUDACC__|CU[A-Z]+_(?:\w+_)?VERSION|__NVCC__")),
    Platform("cpu", ("cpu", "mkl", "mkldnn", "xnnpack", "TH", "THNN"), macros=re.compile(r"__x86_64__|__i386__")),
    Platform("hip", ("miopen", "THH"), macros=re.compile(r"USE_ROCM|__HIP\w*|AT_ROCM_ENABLED|USE_MIOPEN")),
    Platform("mps", ("mps",), "MPS", re.compile(r"__APPLE__|__OBJC__|__aarch64__|TARGET_OS_MAC|USE_MPS")),
    Platform("metal", ("metal",), None, re.compile(r"__APPLE__|__OBJC__|USE_PYTORCH_METAL\w*")),
    Platform("vulkan", ("vulkan",), None, re.compile(r"USE_VULKAN\w*")),
    Platform("xpu", ("xpu",), "XPU"),
)
BY_DEVICE = {platform.device: platform for platform in PLATFORMS}
DEVICES = frozenset((*BY_DEVICE, "meta"))  # that the tree has code for
DEVICE_OF_FOLDER = {folder: platform.device for platform in PLATFORMS for folder in platform.folders}
SWITCHES = tuple(sorted({platform.switch for platform in PLATFORMS if platform.switch}))
