# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartographer.query import spelling


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("aten/src/ATen/native/BinaryOps.cpp:30", ("aten/src/ATen/native/BinaryOps.cpp", 30)),
        ("BinaryOps.cpp", ("BinaryOps.cpp", None)),
        ("BinaryOps.cpp:30:5", ("BinaryOps.cpp", 30)),
        ("./x.cu:1:", ("x.cu", 1)),
        ("python_variable_methods.cpp.in:4", ("python_variable_methods.cpp.in", 4)),
        ("https://github.com/pytorch/pytorch/blob/v2.6.0/aten/src/x.cu#L12", ("aten/src/x.cu", 12)),
        ("https://github.com/pytorch/pytorch/blob/v2.6.0/aten/src/x.cu#L12-L20", ("aten/src/x.cu", 12)),
        ("at::native::f", None),
        ("add", None),
    ],
)
def test_place(text, place):
    assert spelling.place(text) == place


@pytest.mark.parametrize(
    ("symbol", "names"),
    [
        ("_ZN2at6native10add_kernelERNS_18TensorIteratorBaseE", ("at::native::add_kernel", "TensorIteratorBase")),
        ("_ZN2at6native12_GLOBAL__N_110add_kernelEv", ("at::native::add_kernel",)),
        ("_Z1fv", ("f",)),
        ("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEEEEvi",
         ("at::native::vectorized_elementwise_kernel", "CUDAFunctor_add")),
        ("_Z", ()),
        ("_ZN9999999x", ()),
    ],
)  # fmt: skip
def test_demangled_names(symbol, names):
    found = spelling.demangled_names(symbol)
    assert tuple(name for name in names if name not in found) == ()
    assert found[:1] == names[:1]


@given(st.text(st.sampled_from("_ZNEILSst0123456789abc"), max_size=60))
def test_demangling_anything_ends(text):
    spelling.demangled_names(text)


def test_identifiers_in_order():
    symbol = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, x)"
    found = spelling.identifiers(symbol)
    assert found.index("at::native::vectorized_elementwise_kernel") < found.index("at::native::CUDAFunctor_add")


@pytest.mark.parametrize(
    ("name", "stem"),
    [("RegisterCPU_2.cpp", "RegisterCPU.cpp"), ("RegisterCPU.cpp", "RegisterCPU.cpp"), ("python_torch_functions_0.cpp", "python_torch_functions.cpp")],
)
def test_generated_stem(name, stem):
    assert spelling.generated_stem(name) == stem


@given(st.text(max_size=80))
def test_any_text_is_read_without_fault(text):
    trimmed = spelling.trimmed(text)
    spelling.python_names(trimmed)
    spelling.torch_ops(trimmed)
    spelling.place(trimmed)
    spelling.identifiers(trimmed)
    spelling.generated_stem(trimmed)
    spelling.operators_in(trimmed)


def test_a_line_beyond_all_files_is_still_a_number():
    assert spelling.place("a/b.cpp:" + "9" * 5_000) == ("a/b.cpp", 2**31)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("frame #4: at::native::f(at::Tensor const&) + 0x51 (0x7f2b in /usr/lib/libtorch_cpu.so)", "at::native::f(at::Tensor const&)"),
        ("#5  0x00007ffff7 in at::native::f (self=..., dim=1) at ../aten/src/ATen/native/F.cpp:12", "at::native::f (self=..., dim=1)"),
        ("#0 at::native::f(int) () from /usr/lib/libtorch_cpu.so", "at::native::f(int)"),
        ('  File "/usr/lib/python3/site-packages/torch/nn/functional.py", line 71, in softmax', "torch/nn/functional.py:71"),
        ("at::X::operator()", "at::X::operator()"),
    ],
)
def test_a_line_of_a_stack_trace_is_its_symbol_or_place(line, name):
    assert spelling.trimmed(line) == name
