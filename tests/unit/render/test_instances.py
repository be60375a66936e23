# SPDX-License-Identifier: BSD-3-Clause
"""Kernels of Metal that the host picks by type: what reaches the template, or one instance, reaches the others too."""

from __future__ import annotations

from dataclasses import replace

from cartographer.model.atlas import INSTANCE, Symbol
from cartographer.model.operator import Chain, Status, Step
from cartographer.render.loading import load
from cartographer.render.site import Site
from cartographer.store import writer
from cartographer.store.reader import Reader

PATH = "aten/src/ATen/native/mps/kernels/Small.metal"


def kernel(name, line, instance=""):
    return Symbol(name, name, "metal-kernel", PATH, line, line, f"{INSTANCE}{instance}" if instance else "(uint i)")


SYMBOLS = (
    kernel("search", 3), kernel("search_float_int", 10, "search<float, int>"), kernel("search_half_int", 11, "at::search<half, int>"),
    kernel("apply", 20), kernel("add_float", 30, "apply<float3, add_functor>"), kernel("add_half", 31, "apply<half3, add_functor>"),
    kernel("sub_half", 32, "apply<half3, sub_functor>"), kernel("lone_half", 40, "lone<half>"), kernel("lone_float", 41, "lone<float>"),
)  # fmt: skip


def rows(small, tmp_path, *reached):
    steps = (Step("entry", "at::native::mul_mps", "aten/src/ATen/native/BinaryOps.cpp", 30), *(Step("device", name, PATH, line) for name, line in reached))
    op = replace(small.OPERATORS[0], kernels={"MPS": Chain(Status.RESOLVED, None, steps)})
    with Reader(writer.write(small.atlas(operators=(op, *small.OPERATORS[1:]), symbols=SYMBOLS), tmp_path)) as reader:
        found = Site(load(reader)).device_rows
    assert len({(row.path, row.line) for row in found}) == len(found)
    return {row.name: (row.backends, row.operators) for row in found if row.path == PATH and row.operators}


def test_what_reaches_a_template_reaches_its_instances(small, tmp_path):
    mul = (("MPS",), ("aten::mul.Tensor",))
    assert rows(small, tmp_path, ("search", 3)) == {"search": mul, "search_float_int": mul, "search_half_int": mul}


def test_what_reaches_one_instance_reaches_those_for_other_types_alone(small, tmp_path):
    """And it runs the template. An instance for another functor computes something else, and of one whose template is not known nothing is told."""
    found = rows(small, tmp_path, ("add_float", 30), ("lone_float", 41))
    assert set(found) == {"add_float", "add_half", "apply", "lone_float"}
