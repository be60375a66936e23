# SPDX-License-Identifier: BSD-3-Clause
"""Sources that nobody writes: what is made of them is made in bounded time."""

import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, operator, steps

from cartographer.link.expansions import _LAUNCH
from cartographer.link.settings import _MEMBER
from cartographer.link.variables import Variables


@pytest.mark.parametrize("made", ["A" * 50_000 + " {", "A" + "## A " * 10_000], ids=["a long word", "a name of many pieces"])
def test_what_macros_make(made):
    text = f"#define KERNEL(A) void A##_kernel() {{ launch(A); }} {made}\nnamespace at::native {{ KERNEL(one)\nvoid f() {{ g(); }} }}\n"
    start = time.process_time()
    steps({N + "a.cpp": text}, operator("f(Tensor a) -> Tensor", "CPU", "at::native::f"), key="CPU")
    assert time.process_time() - start < 5


WIDE = " " * 2_000


@pytest.mark.parametrize("find", [
    lambda: Variables(f"auto a ={WIDE}!", 1).flags, lambda: Variables(f"auto{WIDE * 4}!", 1).assigned,
    lambda: Variables(f"auto g = b.defined();\nauto a ={' ' * 190}borrow_from_optional_tensor(c) " * 50, 1).flags,
    lambda: Variables("int a = 1; " * 2_500, 1).all_declared("a"), lambda: _MEMBER.findall("\n at::A b = " + "\n" * 8_000 + "!"),
    lambda: _LAUNCH.findall("A" * 20_000),
])  # fmt: skip
def test_long_lines(find):
    start = time.process_time()
    find()
    assert time.process_time() - start < 1
