# SPDX-License-Identifier: BSD-3-Clause
"""What pages say in words: names keep their case, and a page is on the floors that it names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cartographer.model.operator import Chain, Status, Step
from cartographer.render.pages import checks
from cartographer.render.pages.descent import descent_of


@pytest.mark.parametrize(
    ("role", "symbol", "note", "says"),
    [
        ("calls", "at::pad", "aten::pad: at::pad", " pad."), ("calls", "at::zeros", "aten::zeros; only here", " zeros; only here."), ("library", "cudnnPoolingForward", "cuDNN", " cuDNN."),
        ("kernel", "f", "called in a loop", " Called in a loop."), ("kernel", "f", "at::pad calls it", " at::pad calls it."),
    ],
)  # fmt: skip
def test_a_name_at_the_start_of_a_sentence_keeps_its_case(site, role, symbol, note, says):
    chain = Chain(Status.RESOLVED, None, (Step("entry", "at::native::f", "a.cpp", 1), Step(role, symbol, "a.cpp", 2, note)))
    op = replace(site.catalog.mains["op/mul"], kernels={"CUDA": chain})
    told = [stop.says for floor in descent_of(site, op, "CUDA") for stop in floor.stops if stop.name == symbol]
    assert told
    assert all(text.endswith(says) for text in told), told


def test_a_page_about_all_floors_marks_them(written):
    seen = 0
    for path in written.pages:
        text = path.read_text()
        if "all floors." in text:
            seen += 1
            assert text.count("<li class=on>") == 8, path
    assert seen > 5


def test_only_absences_that_were_counted_are_numbers(site, written):
    """A key whose absences were passed over has no number of them: nought would say that nothing lacks a kernel."""
    rows = {row.backend: row.none for row in checks.build(site).view.backends}
    whole = {key for key in rows if all(key in op.kernels for op in site.catalog.operators if key in op.dispatch)}
    assert rows["CUDA"] is None
    assert rows["SparseCUDA"] == 0
    assert {key for key, none in rows.items() if none is not None} == whole
    page = (written.out / "checks/index.html").read_text()
    assert page.count("<span class=note>not counted</span>") == len(rows) - len(whole)
    assert "Not counted: of this key" in page
