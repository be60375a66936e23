# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest

from cartographer.errors import NotFound
from cartographer.query import show
from cartographer.query.ink import Ink


def test_everything_is_said(reader):
    named, found = show.find(reader, "add.Tensor")
    text = "\n".join(show.text(named, found, Ink()))
    for part in (
        "aten::add.Tensor(Tensor self", "native_functions.yaml:10", "THPVariable_add", "at::_ops::add_Tensor", "AutogradCPU", "meta_add",
        "overridden", "fallthrough", "backend fallback: ZeroTensor", "AddKernel.cu:20", "unresolved", "AddBackward0", "handle_r_to_c(self, grad)",
        "FunctionsManual.cpp:50", "aten::empty", "aten::softmax.int", "2018-07-06", "not known", "strange_key",
    ):  # fmt: skip
        assert part in text, part


def test_other_overloads_by_schema(reader):
    named, found = show.find(reader, "add")
    text = list(show.text(named, found, Ink()))
    assert text[-1].strip().startswith("aten::add.out(")
    assert "1 more overload " in text[-2]


def test_json_is_the_export(reader):
    from cartographer.query import export

    named, found = show.find(reader, "add.Tensor")
    assert show.as_json(named, found)["operators"] == [export.record(found[0])]


def test_not_found(reader):
    with pytest.raises(NotFound):
        show.find(reader, "add_kernel_of_nobody")
