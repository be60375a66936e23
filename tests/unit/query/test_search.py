# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from cartographer.query import operators
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


@pytest.mark.parametrize(("text", "operator"), [("F.softmax", "aten::softmax"), ("at::native::add_out", "aten::add"), ("torch.ops.aten.add_.Tensor", "aten::add_")])
def test_what_where_understands_comes_first(reader, text, operator):
    """No name of the index is spelled so."""
    best = search(reader, text)[0]
    assert (best.kind, best.label) == ("operator", operator)
    assert best.detail.endswith(operators.resolve(reader.lookup, text).said)
    assert len(search(reader, text, 1)) == 1
    assert not any(hit.kind == "operator" for hit in search(reader, text, kinds=("symbol", "kernel")))


def test_the_function_on_the_way_is_told_once(reader):
    hits = [(hit.label, hit.path, hit.line) for hit in search(reader, "F.softmax")]
    assert hits[1] == ("torch.nn.functional.softmax", "torch/nn/functional.py", 60)
    assert len(hits) == len(set(hits))


def test_limit_and_kinds(reader):
    assert len(search(reader, "add", 3)) == 3
    assert {hit.kind for hit in search(reader, "add", kinds=("symbol",))} == {"symbol"}
    assert search(reader, "nothingofthekind") == ()


def test_when_no_name_holds_all_words(reader):
    assert search(reader, "softmax zebra")[0].label == "aten::softmax"
    assert search(reader, "zebra giraffe") == ()
