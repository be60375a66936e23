# SPDX-License-Identifier: BSD-3-Clause
"""Conditions that the build settles: the side that never runs is no way."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, operator, steps

F = operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_cuda")
VERSION = "#if LIB_VERSION >= 11\nconstexpr bool use_new = true;\n#else\nconstexpr bool use_new = false;\n#endif\n"


def launched(condition, before="", inside="", files=None):
    """The kernels of `if (condition) yes else no`, with the conditions that are left."""
    text = (f"#include <ATen/native/cuda/Version.h>\nnamespace at::native {{\n__global__ void yes(int* p) {{}}\n__global__ void no(int* p) {{}}\n{before}"
            f"void f_cuda(const Tensor& self) {{\n{inside}  if ({condition}) {{\n    yes<<<8, 8>>>(p);\n  }} else {{\n    no<<<8, 8>>>(p);\n  }}\n}}\n}}\n")
    found = steps({N + "cuda/F.cu": text, **(files or {})}, F)
    return [s for role, s, _ in found if role == "device"]


@pytest.mark.parametrize(("condition", "before", "inside", "kernels"), [
    ("flag", "", "  const bool flag{false};\n", ["no"]),
    ("n == 1 || flag", "", "#ifdef C10_MOBILE\n  const bool flag = on(self);\n#else\n  const bool flag{true};\n#endif\n", ["yes"]),
    ("!flag && n > 2", "static constexpr bool flag = true;\n", "", ["no"]),
    ("flag && n > 2", "static constexpr bool flag = true;\n", "", ["no", "yes"]),
    ("!AT_CUDNN_ENABLED()", "", "", ["no"]),
    ("flag", "", "  bool flag = false;\n", ["no", "yes"]),
    ("flag", "", "#ifdef SOMETHING\n  const bool flag = true;\n#else\n  const bool flag = false;\n#endif\n", ["no", "yes"]),
])
def test_values_written_where_they_are_declared(condition, before, inside, kernels):
    assert launched(condition, before, inside) == kernels


def test_values_of_a_header_that_is_included():
    assert launched("use_new || n == 1", files={N + "cuda/Version.h": VERSION}) == ["yes"]
    assert launched("use_new || n == 1", files={N + "cuda/Other.h": VERSION}) == ["no", "yes"]
