# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import dataclasses
import json

import sample_atlas
from sample_atlas import BINARY, CUDA

from cartographer.model.operator import Chain, CppNames, Status, Step
from cartographer.query import deep
from cartographer.query.ink import Ink
from cartographer.query.where import Descent
from cartographer.store import writer
from cartographer.store.reader import Reader


def _atlas(tmp_path, **bodies):
    """Operators whose bodies call others; a name without calls has a kernel of its own."""
    made = []
    for line, (name, calls) in enumerate(bodies.items(), 1):
        steps = [Step("entry", f"at::native::{name}", BINARY, line), *(Step("calls", f"at::{c}", BINARY, line, branch=b) for c, b in calls)]
        if not calls:
            steps.append(Step("kernel", f"{name}_kernel", CUDA, line))
        made.append(dataclasses.replace(sample_atlas.operators()[1], name=f"aten::{name}", cpp=CppNames(f"at::_ops::{name}", f"at::{name}", None),
                                        dispatch={"CUDA": "math kernel" if calls else "kernel"}, kernels={"CUDA": Chain(Status.RESOLVED, None, tuple(steps))}))  # fmt: skip
    writer.write(dataclasses.replace(sample_atlas.atlas(), operators=tuple(made)), tmp_path)
    return Reader(tmp_path)


def test_calls_are_followed_to_kernels(tmp_path):
    with _atlas(tmp_path, top=[("middle", "x > 0"), ("leaf", "")], middle=[("leaf", ""), ("top", "")], leaf=[]) as reader:
        called = deep.follow(reader, reader.routes("aten::top").kernels["CUDA"], "CUDA")
        assert [c.name for c in called] == ["aten::middle", "aten::leaf"]
        middle, leaf = called
        assert [c.name for c in middle.calls] == ["aten::leaf", "aten::top"]
        assert middle.calls[0].main.symbol == "leaf_kernel"
        assert not leaf.seen  # followed where it is nearest
        assert middle.calls[0].seen
        lines = list(deep.text(called, Ink()))
        assert lines[0].endswith(f"aten::middle  {BINARY}:2  at::native::middle  if x > 0")
        assert lines[-1] == f"      aten::leaf  {CUDA}:3  leaf_kernel"
        assert sum("aten::leaf" in line for line in lines) == 1
        assert json.loads(json.dumps(deep.record(called)))[0]["calls"][0]["main"]["line"] == 3


def test_recursion_ends(tmp_path):
    with _atlas(tmp_path, top=[("top", "")]) as reader:
        called = deep.follow(reader, reader.routes("aten::top").kernels["CUDA"], "CUDA")
        assert called[0].calls[0].seen


def test_unknown_callee_is_left_out(tmp_path):
    with _atlas(tmp_path, top=[("nothing", "")]) as reader:
        assert deep.follow(reader, reader.routes("aten::top").kernels["CUDA"], "CUDA") == ()


def _brief(reader, name, *backends):
    chain = reader.routes(name).kernels["CUDA"]
    return list(deep.brief(reader, Descent((name,), backends, chain), Ink()))


def test_what_runs_in_any_case_is_followed_unasked(tmp_path):
    with _atlas(tmp_path, top=[("middle", ""), ("other", "x > 0")], middle=[("leaf", "")], leaf=[], other=[]) as reader:
        assert _brief(reader, "aten::top", "CUDA") == [
            f"      aten::middle  {BINARY}:2  at::native::middle", f"        aten::leaf  {CUDA}:3  leaf_kernel",
            "      # --deep follows the operators called under conditions too",
        ]  # fmt: skip
        assert _brief(reader, "aten::middle", "CUDA", "CPU")[0] == f"      aten::leaf on CUDA  {CUDA}:3  leaf_kernel"
        assert _brief(reader, "aten::leaf", "CUDA") == []


def test_what_a_fallback_sends_on_is_followed_there(tmp_path):
    """The fallback of one device copies to another and calls the operator again: what its body calls there runs there."""

    def of(name, **kernels):
        return dataclasses.replace(sample_atlas.operators()[1], name=f"aten::{name}", cpp=CppNames(f"at::_ops::{name}", f"at::{name}", None),
                                   dispatch=dict.fromkeys(kernels, "kernel"), kernels={key: Chain(Status.RESOLVED, None, steps) for key, steps in kernels.items()})  # fmt: skip

    steps = (
        Step("entry", "fall_back", BINARY, 1), Step("calls", "op.redispatch", BINARY, 2, "the operator itself, on CPU"), Step("calls", "at::leaf", BINARY, 3),
        Step("entry", "top_cpu", BINARY, 8, "of aten::top; on CPU; written by the build"), Step("calls", "at::leaf", BINARY, 9), Step("entry", "mid", BINARY, 11, "of aten::mid"),
        Step("calls", "at::leaf", BINARY, 12),
    )  # fmt: skip
    made = (of("top", MPS=steps), of("leaf", CPU=(Step("entry", "leaf_cpu", BINARY, 20),), MPS=(Step("entry", "leaf_mps", BINARY, 30),)))
    writer.write(dataclasses.replace(sample_atlas.atlas(), operators=made), tmp_path)
    with Reader(tmp_path) as reader:
        called = deep.follow(reader, reader.routes("aten::top").kernels["MPS"], "MPS")
        assert [(c.call.line, c.key, c.on, c.main.symbol) for c in called] == [(3, "MPS", "", "leaf_mps"), (9, "CPU", "CPU", "leaf_cpu"), (12, "CPU", "CPU", "leaf_cpu")]
        assert [line.split()[:3] for line in deep.text(called, Ink())][1] == ["aten::leaf", "on", "CPU"]


def test_a_kernel_of_sparse_tensors_may_call_for_their_dense_parts(tmp_path):
    """Which tensors it hands on cannot be told; never those that would enter it again."""

    def chain(name, line, *calls):
        return Chain(Status.RESOLVED, None, (Step("entry", name, BINARY, line), *(Step("calls", f"at::{c}", BINARY, line + 1) for c in calls)))

    def of(name, line, dispatch, **kernels):
        return dataclasses.replace(
            sample_atlas.operators()[1], name=f"aten::{name}", cpp=CppNames(f"at::_ops::{name}", f"at::{name}", None), dispatch=dispatch, kernels=kernels,
        )  # fmt: skip

    own = {"CUDA": "kernel", "SparseCUDA": "kernel"}
    made = (
        of("cat", 1, own, CUDA=chain("cat_cuda", 10), SparseCUDA=chain("cat_sparse", 20, "cat", "view", "composed")),
        of("view", 2, own, CUDA=chain("view", 30), SparseCUDA=chain("view_sparse", 40)),
        of("composed", 3, dict.fromkeys(own, "math kernel"), CUDA=chain("composed", 50), SparseCUDA=chain("composed", 50)),
    )
    writer.write(dataclasses.replace(sample_atlas.atlas(), operators=made), tmp_path)
    with Reader(tmp_path) as reader:
        called = deep.follow(reader, reader.routes("aten::cat").kernels["SparseCUDA"], "SparseCUDA")
        assert list(deep.text(called, Ink(), 0)) == [
            f"aten::cat on CUDA  {BINARY}:10  cat_cuda", f"aten::view on SparseCUDA  {BINARY}:40  view_sparse", f"aten::view on CUDA  {BINARY}:30  view",
            f"aten::composed  {BINARY}:50  composed",
        ]
        assert [row["key"] for row in deep.record(called)] == ["CUDA", "SparseCUDA", "CUDA", "SparseCUDA"]
