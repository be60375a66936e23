# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from cartographer.query.search import search


@pytest.mark.parametrize(
    ("text", "kind", "label"),
    [("add", "operator", "aten::add"), ("softmax", "operator", "aten::softmax"), ("THPVariable_add", "binding", "THPVariable_add"),
     ("add_kernel", "symbol", "at::native::(anonymous)::add_kernel"), ("AddKernel.cu", "file", "aten/src/ATen/native/cuda/AddKernel.cu"),
     ("torch.add", "python", "torch.add"), ("addbackward", "node", "AddBackward0")],
)  # fmt: skip
def test_the_best_comes_first(reader, text, kind, label):
    best = search(reader, text)[0]
    assert (best.kind, best.label) == (kind, label)


def test_limit_and_kinds(reader):
    assert len(search(reader, "add", 3)) == 3
    assert {hit.kind for hit in search(reader, "add", kinds=("symbol",))} == {"symbol"}
    assert search(reader, "nothingofthekind") == ()


def test_when_no_name_holds_all_words(reader):
    assert search(reader, "softmax zebra")[0].label == "aten::softmax"
    assert search(reader, "zebra giraffe") == ()
