# SPDX-License-Identifier: BSD-3-Clause
"""Guide texts: their form, and that the shipped ones are whole."""

import pytest

from cartographer.errors import RenderError
from cartographer.guide import texts
from cartographer.guide.places import owner_of
from cartographer.model.atlas import Landmark

SHIPPED = texts.load()


def test_a_journey_has_stops(tmp_path) -> None:
    (tmp_path / "a.md").write_text('+++\ntitle = "A"\nkind = "journey"\nwords = ["x"]\n+++\nBefore.\n\n## One\n@ floor=3 {op:add}\nBody of *one*.\n\n## Two\n@ floor=5 {path:x.cpp}\nBody.\n')
    (text,) = texts.load(tmp_path)
    assert (text.body, [(s.title, s.floor, s.at) for s in text.stops]) == ("Before.", [("One", 3, "{op:add}"), ("Two", 5, "{path:x.cpp}")])
    assert text.stops[0].body == "Body of *one*."


@pytest.mark.parametrize("head", ["no head", "+++\ntitle = 1 =\n+++\n", '+++\ntitle = "A"\n+++\n'])
def test_a_bad_head_is_named(tmp_path, head) -> None:
    (tmp_path / "bad.md").write_text(head)
    with pytest.raises(RenderError, match=r"bad\.md"):
        texts.load(tmp_path)


def test_the_shipped_guide_is_whole() -> None:
    kinds = [text.kind for text in SHIPPED]
    assert (kinds.count("floor"), kinds.count("idea"), kinds.count("journey"), kinds.count("line")) == (8, 12, 7, 4)
    slugs = {text.slug for text in SHIPPED}
    for text in SHIPPED:
        assert set(text.line_stops) <= slugs
        assert text.words or text.kind == "line", text.slug
    assert all(5 <= len(text.line_stops) <= 9 for text in SHIPPED if text.kind == "line")


def test_no_number_is_written_by_hand() -> None:
    """Counts of a release come from the atlas: no number with a thousands separator stands in a text."""
    import re

    for text in SHIPPED:
        for body in (text.body, *(stop.body for stop in text.stops)):
            assert not re.search(r"\d,\d{3}", body), text.slug


def test_the_last_rule_of_codeowners_decides() -> None:
    rules = [Landmark(p, "owner", "CODEOWNERS", n, "") for n, p in enumerate(["/torch/", "nn/quantized/", "/torch/nn/", "*.cu"], 1)]
    assert owner_of("torch/nn/functional.py", rules).subject == "/torch/nn/"
    assert owner_of("torch/optim/sgd.py", rules).subject == "/torch/"
    assert owner_of("torch/ao/nn/quantized/x.py", rules).subject == "nn/quantized/"
    assert owner_of("aten/src/x.cu", rules).subject == "*.cu"
    assert owner_of("c10/x.cpp", rules) is None
