# SPDX-License-Identifier: BSD-3-Clause
"""Sheets of long lists: each is named so that a reader knows which one to open."""

from __future__ import annotations

from dataclasses import replace

from cartographer.model.location import Location
from cartographer.model.operator import Operator, Origin
from cartographer.render.loading import load
from cartographer.render.pages import operators
from cartographer.render.pages.frame import sheet_names
from cartographer.render.site import Site
from cartographer.store import writer
from cartographer.store.reader import Reader


def test_names_of_sheets_are_whole_words_with_a_number():
    assert sheet_names(["_and", "add", "mul", "sub", "zeta"], 2) == ("1: _and to add", "2: mul to sub", "3: zeta")
    assert sheet_names(["one"], 2) == ("all",)
    assert sheet_names([], 2) == ()


def test_sheets_of_equal_names_differ():
    names = sheet_names(["lambda"] * 6, 2)
    assert names == ("1: lambda", "2: lambda", "3: lambda")


def test_a_long_name_is_cut_with_a_sign_and_after_what_tells_it_apart():
    long = "quantized_batch_norm_with_bias_and_relu"
    one, two = sheet_names(["add", f"{long}_one_and_more_of_it", f"{long}_two_and_more_of_it", "zeta"], 2)
    assert one == f"1: add to {long}_o…"
    assert two == f"2: {long}_t… to zeta"
    (one, _two) = sheet_names(["add", "x" * 60, "y" * 60, "zeta"], 2)
    assert one == f"1: add to {'x' * 24}…"


def test_sheets_of_operators_keep_leading_signs_and_whole_names(small, tmp_path):
    names = ["__and__", *(f"_foreach_clamp_min_{n:03}" for n in range(operators.SHEET)), "zeta"]
    made = [Operator(f"aten::{name}", f"aten::{name}(Tensor self) -> Tensor", Origin.YAML, Location(small.YAML, 100)) for name in names]
    with Reader(writer.write(replace(small.atlas(), operators=tuple(made)), tmp_path)) as reader:
        page = operators.build(Site(load(reader)), 2)
    assert [link.text for link in page.view.sheets] == ["1: __and__ to _foreach_clamp_min_298", "2: _foreach_clamp_min_299 to zeta"]
    assert page.title == "All operators, sheet 2: _foreach_clamp_min_299 to zeta"
