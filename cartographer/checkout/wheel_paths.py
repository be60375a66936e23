# SPDX-License-Identifier: BSD-3-Clause
"""Maps the files of a wheel to their paths in PyTorch's repository; pure functions.

The layout is what PyTorch's setup.py packs: the operator lists and templates under torchgen/packaged, headers under
torch/include, Python as it is. What the build made (from templates, by torchgen, by CMake) is kept apart under build/.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

GENERATED = "build/"

# Longest prefix first. Other folders of torch/include (pybind11, fmt, kineto ...) are other projects'.
_PREFIXES = (
    ("torchgen/packaged/ATen/", "aten/src/ATen/"),
    ("torchgen/packaged/autograd/", "tools/autograd/"),
    ("torch/include/ATen/", "aten/src/ATen/"),
    ("torch/include/THCUNN/", "aten/src/THCUNN/"),
    ("torch/include/THC/", "aten/src/THC/"),
    ("torch/include/TH/", "aten/src/TH/"),
    ("torch/include/c10/", "c10/"),
    ("torch/include/caffe2/", "caffe2/"),
    ("torch/include/torch/", "torch/"),
    ("torch/include/", None),
    ("torch/lib/", None),
    ("torch/bin/", None),
    ("torch/share/", None),
    ("torch/test/", None),
    ("torch/", "torch/"),
    ("torchgen/", "torchgen/"),
    ("functorch/", "functorch/"),
    ("caffe2/", "caffe2/"),
)
_BINARY = re.compile(r".*\.(?:so|pyd|dylib|dll|lib|a|pyc|exe|bin|metallib)(?:\.[\d.]+)?", re.DOTALL)

# Headers that CMake or the generators write, whatever their text says.
_MADE_BY_BUILD = re.compile(
    r"torch/version\.py|torch/include/ATen/(?:ops/.*|Config\.h|cuda/CUDAConfig\.h)|torch/include/torch/csrc/(?:autograd|lazy)/generated/.*"
    r"|torch/include/torch/csrc/api/include/torch/version\.h|torch/include/torch/headeronly/version\.h"
    r"|torch/include/caffe2/core/macros\.h|torch/include/(?:c10|torch/headeronly)/(?:.*/)?\w*cmake_macros\.h"
    r"|torch/testing/_internal/generated/(?!__init__).*",
)
_SAYS_GENERATED = re.compile(rb"@generated (?:by (?:torchgen|tools|torch)/\S+\.py )?from ")
_PER_KEY = re.compile(r"(torch/include/ATen/\w+Functions)(?:_inl)?\.h")

# setup.py wraps public headers since 2.10 or so: one line before, three after, with a blank line between.
_WRAPPED = re.compile(
    rb"\A#if !defined\(TORCH_STABLE_ONLY\)[^\n]*\n(?P<body>.*?)\n?#else\n#error [^\n]*\n#endif[^\n]*\n?\Z", re.DOTALL,
)


def repository_path(member: str) -> str | None:
    """The path in PyTorch's repository of a wheel's member; None for a binary, and for what the repository does not have."""
    if _BINARY.fullmatch(member) or member.endswith("/"):
        return None
    for prefix, target in _PREFIXES:
        if member.startswith(prefix):
            return None if target is None else target + member[len(prefix):]
    return None


def made_by_build(member: str, members: AbstractSet[str], generator: bytes) -> bool:
    """Whether a member's name tells that the build made it. `generator` is torchgen/gen.py, which names what it writes."""
    if _MADE_BY_BUILD.fullmatch(member):
        return True
    if not re.fullmatch(r"torch/include/ATen/(?:core/)?\w+\.h", member):
        return False
    per_key = _PER_KEY.fullmatch(member)
    if per_key and {f"{per_key[1]}.h", f"{per_key[1]}_inl.h"} <= members:
        return True
    name = member.rpartition("/")[2].encode()
    return any(quote + form + quote in generator for quote in (b'"', b"'") for form in (name, b"core/" + name))


def says_generated(data: bytes) -> bool:
    """Whether a file's first lines say that a generator of PyTorch's wrote it."""
    return _SAYS_GENERATED.search(data[:400]) is not None


def unwrapped(member: str, data: bytes) -> bytes:
    """A header as the repository has it: without the guard that setup.py wraps around it, so that lines count right."""
    if not member.startswith("torch/include/") or not data.startswith(b"#if !defined(TORCH_STABLE_ONLY)"):
        return data
    match = _WRAPPED.match(data)
    return match["body"] if match else data
