# SPDX-License-Identifier: BSD-3-Clause
"""Tells the files whose function bodies are read with the file: those of kernels. Of any other file a scan gives the outline, and what
its functions call when that is asked for: most of PyTorch's code is on no operator's way.
"""

from __future__ import annotations

from cartographer.model.location import Language, language_of

KERNELS = (
    "aten/src/ATen/native/", "aten/src/ATen/cuda/", "aten/src/ATen/cudnn/", "aten/src/ATen/miopen/", "aten/src/ATen/mps/",
    "aten/src/ATen/mkl/", "aten/src/ATen/xpu/", "aten/src/ATen/quantized/", "aten/src/ATen/LegacyTH", "aten/src/TH", "aten/src/ATen/sparse",
    "aten/src/ATen/cpu/", "torch/csrc/distributed/c10d/", "torch/csrc/cuda/nccl",
)  # fmt: skip
QNNPACK = "aten/src/ATen/native/quantized/cpu/qnnpack/"  # a library among them, a tenth of all that they call: ways end where it is entered


def with_bodies(path: str) -> bool:
    """Whether the scan of a file reads the bodies of its functions at once. Python's are read as far as they register, wherever they are."""
    return (path.startswith(KERNELS) and not path.startswith(QNNPACK)) or language_of(path) is Language.PYTHON
