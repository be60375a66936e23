# SPDX-License-Identifier: BSD-3-Clause
"""Guide texts: their form, and that the shipped ones are whole."""

import re

import pytest

from cartographer.errors import RenderError
from cartographer.guide import texts
from cartographer.guide.anchors import KINDS, PAGES
from cartographer.guide.owners import Owners
from cartographer.model.atlas import Landmark

SHIPPED = texts.load()


def test_a_journey_has_stops(tmp_path) -> None:
    (tmp_path / "a.md").write_text('+++\ntitle = "A"\nkind = "journey"\nwords = ["x"]\n+++\nBefore.\n\n## One\n@ floor=3 {op:add}\nBody of *one*.\n\n## Two\n@ floor=5 {path:x.cpp}\nBody.\n')
    (text,) = texts.load(tmp_path)
    assert (text.body, [(s.title, s.floor, s.at) for s in text.stops]) == ("Before.", [("One", 3, "{op:add}"), ("Two", 5, "{path:x.cpp}")])
    assert text.stops[0].body == "Body of *one*."


def test_what_holds_on_pages_or_in_a_terminal_alone_is_read_there(tmp_path) -> None:
    (tmp_path / "a.md").write_text('+++\ntitle = "A"\nkind = "page"\n+++\nAsk `where`[[page:, or the box]]; [[page:a link]][[terminal:`show`]] leads on.\n')
    assert [texts.load(tmp_path, medium)[0].body for medium in ("page", "terminal")] == ["Ask `where`, or the box; a link leads on.\n", "Ask `where`; `show` leads on.\n"]


def test_no_sentence_of_pages_is_printed() -> None:
    """The search box and what can be clicked are on pages alone."""
    for text in texts.load(medium="terminal"):
        for body in (text.body, *(stop.body for stop in text.stops)):
            assert not re.search(r"search box|word with a link|\[\[|\]\]|\bclick\b", body), text.slug
    assert not any("[[" in text.body for text in SHIPPED)


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
    for text in SHIPPED:
        for body in (text.body, *(stop.body for stop in text.stops)):
            assert not re.search(r"\d,\d{3}", body), text.slug


def test_the_last_rule_of_codeowners_decides() -> None:
    rules = [Landmark(p, "owner", "CODEOWNERS", n, "") for n, p in enumerate(["/torch/", "nn/quantized/", "/torch/nn/", "*.cu", "docs/*", "vendored/", "**/*Blas*"], 1)]

    def decides(path: str) -> str:
        rule = Owners(rules).of(path)
        return rule.subject if rule else ""

    assert decides("torch/nn/functional.py") == "/torch/nn/"
    assert decides("torch/optim/sgd.py") == "/torch/"
    assert decides("torch/ao/nn/quantized/x.py") == "/torch/", "a slash inside ties a pattern to the root, as in .gitignore"
    assert decides("nn/quantized/x.py") == "nn/quantized/"
    assert decides("aten/src/x.cu") == "*.cu"
    assert (decides("docs/a.md"), decides("docs/deep/a.md")) == ("docs/*", "")
    assert decides("a/vendored/b.c") == "vendored/"
    assert decides("aten/src/CUDABlas.cpp") == "**/*Blas*"
    assert decides("c10/x.cpp") == ""


def test_every_word_of_the_glossary_has_a_place() -> None:
    (glossary,) = (text for text in SHIPPED if text.slug == "pages/glossary")
    entries = glossary.body.split("## ")[1:]
    assert len(entries) > 40
    for entry in entries:
        assert texts.ANCHOR.search(entry), entry


def test_every_task_has_a_check() -> None:
    for text in SHIPPED:
        if text.kind == "stop":
            assert text.body.count("## Task\n") == text.body.count("### Check\n") == 1, text.slug
            task, check = text.body.split("## Task\n")[1].split("### Check\n")
            assert all(word in task for word in ("1. Predict", "2. Run", "3. Explain")), text.slug
            assert len(check) > 60, text.slug


def test_every_anchor_is_of_a_kind_that_there_is() -> None:
    """An atlas of another release says of many anchors that they do not hold there: a slip of the pen must not hide among them."""
    for text in SHIPPED:
        for part in text.parts:
            for match in texts.ANCHOR.finditer(part):
                assert match[1] in KINDS, (text.slug, match[0])
                assert match[1] != "page" or match[2] in PAGES, (text.slug, match[0])


def test_terms_are_in_the_glossary() -> None:
    known = texts.glossary_terms(SHIPPED)
    for text in SHIPPED:
        for part in text.parts:
            for match in texts.ANCHOR.finditer(part):
                assert match[1] != "term" or match[2] in known, (text.slug, match[2])
