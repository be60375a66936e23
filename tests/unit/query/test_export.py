# SPDX-License-Identifier: BSD-3-Clause
"""The interface of design.md: names and meanings that other tools rely on."""

from __future__ import annotations

import json

import pytest

from cartographer.errors import StoreError
from cartographer.query import export


@pytest.fixture
def lines(reader):
    return [json.loads(line) for line in export.lines(reader)]


def test_first_line(lines):
    head = lines[0]
    assert {"kind", "format", "pytorch", "tag", "commit", "source", "counts"} <= head.keys()
    assert (head["kind"], head["format"], head["pytorch"], head["tag"], head["commit"], head["source"]) == ("atlas", 1, "2.6.0", "v2.6.0", None, "directory")
    assert head["counts"]["operators"] == 5


def test_sorted_by_name(lines):
    names = [line["name"] for line in lines[1:]]
    assert names == sorted(names)
    assert len(names) == 5


def test_an_operator(lines):
    add = lines[1]
    assert {"kind", "name", "schema", "origin", "declared", "build", "bindings", "cpp", "registrations", "dispatch", "kernels", "autograd", "age"} <= add.keys()
    assert add["kind"] == "op"
    assert add["declared"] == {"path": "aten/src/ATen/native/native_functions.yaml", "line": 10}
    assert add["bindings"][0] == {
        "python": "torch.add", "function": "THPVariable_add", "file": "python_torch_functions_0.cpp", "deprecated": False, "place": None,
        "generator": {"path": "tools/autograd/gen_python_functions.py", "line": 300},
    }  # fmt: skip
    assert add["cpp"] == {"op": "at::_ops::add_Tensor", "function": "at::add", "method": "at::Tensor::add"}
    assert add["dispatch"]["ZeroTensor"] == "backend fallback"
    assert add["kernels"]["CPU"]["status"] == "unresolved"
    assert add["kernels"]["CUDA"]["steps"][0] == {
        "role": "entry", "symbol": "structured_add_out::impl", "path": "aten/src/ATen/native/BinaryOps.cpp", "line": 30, "note": "TORCH_IMPL_FUNC(add_out)",
    }  # fmt: skip
    assert add["autograd"]["nodes"] == ["AddBackward0"]
    assert add["autograd"]["helpers"] == [
        {"symbol": "torch::autograd::generated::details::handle_r_to_c", "path": "torch/csrc/autograd/FunctionsManual.cpp", "line": 50}
    ]
    assert add["age"] == {"kernel": "2018-07-06", "declaration": None}


def test_one_registration_a_key_and_what_it_overrides(lines):
    add = lines[1]
    in_force = [r["active"] for r in add["registrations"]]
    assert in_force == sorted(in_force, reverse=True)
    keys = [r["key"] for r in add["registrations"] if r["active"]]
    assert len(keys) == len(set(keys)) == 4
    meta = next(r for r in add["registrations"] if r["key"] == "Meta")
    assert (meta["kernel"], meta["origin"], meta["place"]) == ("meta_add", "python", {"path": "torch/_meta_registrations.py", "line": 77})
    assert [r["key"] for r in add["registrations"] if not r["active"]] == ["Meta"]
    named = next(r for r in add["registrations"] if r["key"] == "Named")
    assert (named["fallthrough"], named["kernel"], named["build"]) == (True, None, ["named"])


def test_no_autograd_is_null(lines):
    assert lines[-1]["autograd"] is None


def test_to_a_file(reader, tmp_path):
    target = tmp_path / "out.jsonl"
    target.write_text("old")
    export.write(reader, target)
    assert target.read_text().splitlines() == list(export.lines(reader))
    assert [p.name for p in tmp_path.iterdir()] == ["out.jsonl"]


def test_to_nowhere(reader, tmp_path):
    with pytest.raises(StoreError):
        export.write(reader, tmp_path / "no" / "folder.jsonl")
