# SPDX-License-Identifier: BSD-3-Clause
"""Schemas of the first releases read as torch printed them."""

import pytest

from cartographer.compare.rows import as_torch_prints


@pytest.mark.parametrize(("written", "printed"), [
    ("f(Tensor self, int64_t n, bool b=false, double p=0.5) -> Tensor", "f(Tensor self, int n, bool b=False, float p=0.5) -> Tensor"),
    ("f(IntList[2] stride=1, IntList size={}, IntList r={0,1}) -> TensorList", "f(int[2] stride=1, int[] size=None, int[] r=[0,1]) -> Tensor[]"),
    ("f(Generator* g=nullptr, std::array<bool,3> m) -> (Tensor, int64_t)", "f(Generator? g=None, bool[3] m) -> (Tensor, int)"),
    ("f(IndexTensor i, BoolTensor? m, int64_t reduction=Reduction::Mean) -> Tensor", "f(Tensor i, Tensor? m, int reduction=Mean) -> Tensor"),
    ("f.x(Tensor(a!) self, SymInt n=-1, *, str? double=None) -> Tensor(a!)", "f.x(Tensor(a!) self, SymInt n=-1, *, str? double=None) -> Tensor(a!)"),
    ("f(int[] dims=[], ScalarType dtype=long) -> ()", "f(int[] dims=[], ScalarType dtype=long) -> ()"),
])
def test_types_of_cpp(written: str, printed: str) -> None:
    assert as_torch_prints(written) == printed
    assert as_torch_prints(printed) == printed
