# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from cartographer.store.search_words import plain, words


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("at::native::add_out", "add_out"),
        ("TORCH_IMPL_FUNC(mul_out)", "mul_out"),
        ("structured_mul_out::impl", "mul_out"),
        ("at::native::structured_mul_out::impl", "mul_out"),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, x<y>)",
         "vectorized_elementwise_kernel"),
        ("at::native::(anonymous namespace)::f(int)", "f"),
        ("at::native::(anonymous)::f", "f"),
        ("&mps::index_kernel_mps", "index_kernel_mps"),
        ("qadd<false>", "qadd"),
        ("f", "f"),
        ("", ""),
    ],
)  # fmt: skip
def test_plain(symbol, expected):
    assert plain(symbol) == expected


def test_words():
    assert words("FunctionsManual::sumBackward2") == "functionsmanual functions manual sumbackward2 sum backward 2"
    assert words("THPVariable_add_").split() == ["thpvariable_add_", "thp", "variable", "add"]
    assert "index_select" in words("at::index_select").split()
