# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartographer.store.search_words import plain, words, words_of


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


def _indexed(texts):
    """What the index says of these texts, but for how long they are (record 1), which no question asks for."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5 (words, content = '', detail = none, columnsize = 0, tokenize = \"unicode61 tokenchars '_'\")")
    connection.executemany("INSERT INTO t (rowid, words) VALUES (?, ?)", enumerate(texts, 1))
    found = connection.execute("SELECT id, block FROM t_data WHERE id > 1 ORDER BY id").fetchall()
    connection.close()
    return [block for number, block in found if number != 10]  # 10: the structure, a counter of writes


@given(st.lists(st.text("aBc_1:.<é²ΣΣs \n\r\x00\x1f", max_size=9) | st.text(max_size=9), max_size=9))
def test_names_taken_apart_together_are_found_by_the_words_of_each(names):
    together = list(words_of(names))
    assert len(together) == len(names)
    assert _indexed(together) == _indexed([words(name) for name in names])
