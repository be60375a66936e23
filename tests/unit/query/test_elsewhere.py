# SPDX-License-Identifier: BSD-3-Clause
"""What `where` and `show` say of a backend whose kernels another repository has."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sample_atlas

from cartographer.model.atlas import Landmark
from cartographer.model.operator import Status
from cartographer.query import elsewhere, show, where_json, where_text
from cartographer.query.ink import Ink
from cartographer.query.where import where
from cartographer.store import writer
from cartographer.store.reader import Reader

SAID = "kernels of XPU are in https://example.org/far at abc, which the build fetches"


@pytest.fixture
def far(tmp_path):
    sample = sample_atlas.atlas()
    operators = tuple(replace(op, dispatch={**op.dispatch, "XPU": "missing", "SparseXPU": "missing"}) for op in sample.operators)
    mark = Landmark("XPU", "elsewhere", "caffe2/CMakeLists.txt", 9, "https://example.org/far at abc")
    writer.write(replace(sample, operators=operators, landmarks=(*sample.landmarks, mark)), tmp_path)
    with Reader(tmp_path) as reader:
        yield reader


@pytest.mark.parametrize("key", ["XPU", "SparseXPU"])
def test_where_does_not_say_that_the_call_fails(far, key):
    found = where(far, "add.Tensor", key)
    assert found.descents[0].chain.status is Status.UNRESOLVED
    assert found.descents[0].chain.reason == f"nothing is registered for {key} in this source: {SAID} (caffe2/CMakeLists.txt:9)"
    assert where_json.record(found)["elsewhere"]["line"] == 9
    assert sum(SAID in line for line in where_text.text(found, Ink())) == 1


def test_where_says_so_beside_a_kernel_that_is_here(far):
    other = replace(where(far, "add.Tensor", "CUDA"), elsewhere=where(far, "add.Tensor", "XPU").elsewhere)
    assert list(where_text.text(other, Ink()))[-1] == f"# {SAID}: caffe2/CMakeLists.txt:9"
    assert where(far, "add.Tensor", "CUDA").elsewhere is None


def test_show_says_it_once(far):
    named, operators = show.find(far, "add.Tensor")
    lines = list(show.text(named, operators, Ink(), elsewhere.of_keys(far, operators[0].dispatch).values()))
    assert [line for line in lines if "elsewhere" in line] == [f"  elsewhere   {SAID}: caffe2/CMakeLists.txt:9"]


def test_other_backends_are_here(reader):
    assert elsewhere.of_keys(reader, ("XPU", "CUDA", "CPU")) == {}
