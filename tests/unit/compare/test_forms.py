# SPDX-License-Identifier: BSD-3-Clause
"""What each form prints, what the filters keep, and that a misspelt filter is no "no changes"."""

import json
from dataclasses import replace

import jsonschema
import pytest

from cartographer.compare.forms import FORMS
from cartographer.compare.machine import JSON_SCHEMA
from cartographer.compare.operators import compare
from cartographer.compare.schemas import SCHEMA_IDS
from cartographer.compare.selection import Selection, check, not_compared, select, spelled_out
from cartographer.errors import CompareError
from cartographer.model.change import Change, Comparison, Level
from cartographer.model.kinds import KINDS, SAME_FUNCTION, Part, part_of, title
from cartographer.model.oplist import OperatorList, OperatorRow
from cartographer.pipeline.releases import page
from cartographer.render.pages.releases import view_of

YAML = "aten/src/ATen/native/native_functions.yaml"


def row(name, schema="(Tensor self) -> Tensor", dispatch=None, **more):
    return OperatorRow(f"aten::{name}", name + schema, YAML, 7, dispatch=dispatch or {"CPU": "k"}, **{"python": (f"torch.{name}",)} | more)


def listing(version, *rows):
    return OperatorList(version, f"v{version}", None, "https://example.org/t", {r.name: r for r in rows})


OLD = listing("1.0", row("gone"), row("changed"), row("internal_", python=()), *(row(f"_i{n}") for n in range(70)), row("moved", dispatch={"CUDA": "k"}))
NEW = listing("2.0", row("changed", "(Tensor self, int n) -> Tensor"), row("moved", dispatch={"CUDA": "other"}))


def text(*, everything=False, selection=None):
    found = compare(OLD, NEW)
    return FORMS["text"](select(found, selection) if selection else found, False, everything).splitlines()


def test_text_shows_first_what_python_calls():
    lines = text()
    assert lines[0] == "PyTorch 1.0 → 2.0: 74 operators changed"
    assert lines[1].split() == ["73", "breaks", "2", "that", "Python", "calls,", "1", "for", "C++", "alone,", "70", "internal,", "or", "made", "by", "torchgen"]
    names = [line.split()[0] for line in lines if line.startswith("    ") and not line.startswith("      ")]
    assert names[:3] == ["gone", "changed", "internal_"]
    assert "      + changed(Tensor self, int n) -> Tensor  native_functions.yaml:7" in lines
    assert len(lines) < 40  # 70 internal operators of which the same is said
    assert all(f"_i{n}" in " ".join(lines) for n in range(70))
    assert sum("- _i" in line for line in text(everything=True)) == 70


def test_bookkeeping_is_counted_apart():
    """Tags and flags of twenty operators bury no new one, and count as no change of those."""
    old = listing("1.0", *(row(f"f{n}") for n in range(20)), row("same", tags=("core",)), row("code"))
    new = listing("2.0", *(row(f"f{n}", tags=("core",), flags={"device_check": "NoCheck"}) for n in range(20)), row("same", tags=("core",)), row("code"), row("fresh"))
    found = compare(old, new)
    lines = FORMS["text"](found, False, False).splitlines()
    assert lines[0] == "PyTorch 1.0 → 2.0: 1 operator changed, 20 more in bookkeeping alone"
    assert [line.split()[:2] for line in lines[1:3]] == [["1", "information"], ["20", "bookkeeping"]]
    assert lines.index("  new operators (1)") < next(n for n, line in enumerate(lines) if line.startswith("BOOKKEEPING"))
    assert "      20 tags: f0, f1, f10, f11, f12, …" in lines
    assert "    f7  gained core" in FORMS["text"](select(found, Selection(ops=("f7",))), False, False).splitlines()  # asked for, it is told
    books = {c["id"] for c in json.loads(FORMS["json"](found, False, False))["changes"] if c["bookkeeping"]}
    assert books == {"tags-changed", "flag-changed"}
    markdown = FORMS["markdown"](found, False, False)
    assert "- 20 × tags" in markdown
    assert "`f7`" not in markdown
    page = view_of(found)
    assert page.operators == 1
    assert {part.key: part.operators for part in page.parts} == {"break": 0, "maybe": 0, "info": 1, "bookkeeping": 20}
    assert [(kind.title, kind.total) for kind in page.parts[-1].kinds] == [("other keys of the list", 20), ("tags", 20)]


def test_sums_name_the_keys_that_are_served_otherwise():
    changes = tuple(Change("served-changed", Level.INFO, f"aten::f{n}", "", detail={"key": "MPS", "keys": ["MPS", "Meta"]}) for n in range(70))
    assert "      70 served otherwise: MPS 70, Meta 70" in FORMS["text"](Comparison("1.0", "2.0", changes), False, False).splitlines()


def test_a_page_names_the_reasons_that_most_share():
    changes = [Change("kernel-code-changed", Level.INFO, f"aten::f{n}_{m}", "", fold=f"reason {n}") for n in range(50) for m in range(2 + (n < 3))]
    (kind,) = view_of(Comparison("1.0", "2.0", tuple(changes))).parts[2].kinds
    assert (kind.total, len(kind.told), kind.rest) == (103, 40, (20, 10))
    assert [number for _, number in kind.told[:4]] == [3, 3, 3, 2]
    assert "20 more for 10 other reasons" in page(Comparison("1.0", "2.0", tuple(changes)))


@pytest.mark.parametrize(("change", "part"), [
    (Change("dispatch-gained", Level.INFO, "aten::f", "", fold="a composite served it before", detail={"key": "CUDA"}), Part.INFO),
    (Change("dispatch-gained", Level.INFO, "aten::f", "", fold=SAME_FUNCTION, detail={"key": "CUDA"}), Part.BOOKKEEPING),
    (Change("kernel-code-changed", Level.INFO, "aten::f", "", fold="shared by many"), Part.INFO),
    (Change("served-changed", Level.INFO, "aten::f", "", fold="Tracer: no backend"), Part.BOOKKEEPING),
    (Change("arg-retyped", Level.MAYBE, "aten::f", "", fold="int respelled as SymInt"), Part.MAYBE),
    (Change("op-added", Level.INFO, "aten::f", ""), Part.INFO),
])  # fmt: skip
def test_what_is_bookkeeping(change, part):
    assert part_of(change) is part


def test_every_kind_has_words():
    assert [kind for kind in KINDS | SCHEMA_IDS if title(kind) == kind] == []


def test_text_without_changes():
    assert text(selection=Selection(ops=("nothing",)))[-1] == "  no changes that pass"
    assert FORMS["text"](compare(NEW, NEW), False, False).splitlines()[-1] == "  no changes"


def test_json_has_permalinks_and_keeps_its_schema():
    told = json.loads(FORMS["json"](compare(OLD, NEW), False, False))
    jsonschema.validate(told, JSON_SCHEMA)
    change = next(c for c in told["changes"] if c["op"] == "aten::changed")
    assert [p["url"] for p in change["places"]] == [f"https://example.org/t/blob/v{v}/{YAML}#L7" for v in ("1.0", "2.0")]
    assert change["detail"]["backends"] == ["CPU"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(told | {"changes": [{"id": "x"}]}, JSON_SCHEMA)


def test_markdown_and_github():
    markdown = FORMS["markdown"](compare(OLD, NEW), False, False)
    assert f"[7](https://example.org/t/blob/v2.0/{YAML}#L7)" in markdown
    assert markdown.index("## Breaks") < markdown.index("## Information")
    lines = FORMS["github"](compare(OLD, NEW), False, False).splitlines()
    assert lines[0].startswith(f"::error file={YAML},line=7,title=")
    assert any(line.startswith("::notice") for line in lines)


def test_two_sides_are_shown_once():
    """What changed in one schema stands in one place on the page, as in the text."""
    old, new = (listing(version, row("view", schema)) for version, schema in (("1.0", "(Tensor self) -> Tensor"), ("2.0", "(Tensor(a) self) -> Tensor(a)")))
    breaks = view_of(compare(old, new)).parts[0]
    (shown,) = breaks.public
    assert (shown.op, shown.kinds, breaks.operators) == ("view", "what is written to, or aliased", 1)
    assert shown.reason == "self aliases a, it did nothing; the result aliases a, it did nothing"


@pytest.mark.parametrize(("selection", "operators"), [
    (Selection(level=Level.BREAK, ops=("gone", "moved")), {"aten::gone"}),
    (Selection(backend="CUDA"), {"aten::moved"}),
    (Selection(backend="cuda"), {"aten::moved"}),
    (Selection(kinds=("kernel-changed",)), {"aten::moved"}),
    (Selection(ops=("aten::ch*",)), {"aten::changed"}),
    (Selection(core=frozenset({"aten::gone"})), {"aten::gone"}),
    (Selection(ops=("gone",), backend="CPU"), {"aten::gone"}),
])  # fmt: skip
def test_filters(selection, operators):
    assert {c.op for c in select(compare(OLD, NEW), selection).changes} == operators


def test_misspelt_filters():
    with pytest.raises(CompareError) as caught:
        check(Selection(backend="CUDAA"), OLD, NEW)
    assert "CUDA" in (caught.value.hint or "")
    with pytest.raises(CompareError) as caught:
        check(Selection(kinds=("op-remved",)), OLD, NEW)
    assert "op-removed" in (caught.value.hint or "")
    assert check(Selection(ops=("gone", "nothing*")), OLD, NEW) == ("no operator of either release is called nothing*",)
    for spelled in ("CUDA", "cuda"):
        assert check(Selection(backend=spelled, kinds=("op-removed",)), OLD, NEW) == ()


def test_a_key_that_no_operator_registers_to_is_a_key_all_the_same():
    old, new = (replace(side, keys={"CPU": "CPU", "XLA": "XLA", "Autocast": main, main: main}) for side, main in ((OLD, "Autocast"), (NEW, "AutocastCUDA")))
    rows = [*old.rows.values()]
    assert check(Selection(backend="xla"), old, new) == ()
    assert "keys that something registers to" in not_compared(Selection(backend="XLA"), rows, {"CPU"})[0], "else no changes would read as an answer"
    assert "between two atlases" in not_compared(Selection(backend="XLA"), rows, None)[0]
    assert not not_compared(Selection(backend="XLA"), rows, {"XLA"})
    assert not not_compared(Selection(backend="cuda"), rows, None)
    change = Change("served-changed", Level.INFO, "aten::moved", "", detail={"key": "CPU", "keys": ["CPU", "AutocastCUDA"]})
    assert spelled_out(Selection(backend="autocast"), old, new).keeps(change)
    assert not spelled_out(Selection(backend="XLA"), old, new).keeps(change)
    with pytest.raises(CompareError, match="neither operator list names"):
        check(Selection(backend="XLA"), OLD, NEW)
    with pytest.raises(CompareError, match="neither release has"):
        check(Selection(backend="NoSuch"), old, new)


def test_kinds_are_all_ids_that_are_written():
    assert {c.id for c in compare(OLD, NEW).changes} <= KINDS


def test_rows_that_add_up_to_more_than_the_operators_say_so():
    old = listing("1.0", row("f", "(Tensor a, Tensor b) -> Tensor"), row("g"))
    new = listing("2.0", row("f", "(Tensor c, Tensor d) -> Tensor"))
    part = view_of(compare(old, new)).parts[0]
    assert (part.operators, part.changes) == (2, 3)
    assert "3 changes; 2 operators have their gravest change here." in page(compare(old, new))


def test_the_page_of_a_wheel_claims_no_kernels():
    from cartographer.model.lineage import Lineage
    from cartographer.model.source import SourceInfo, SourceKind
    from cartographer.render.collection import plate_files
    from cartographer.render.known import KnownPages
    from cartographer.render.pages.releases import plate
    from cartographer.render.urls import RELEASES

    source = SourceInfo(SourceKind.WHEEL, "2.0", "v2.0", None, "torch.whl")
    texts = {}
    for wheel in (True, False):
        made = plate("v2.0", compare(OLD, NEW), Lineage(), lambda _: None, collected=True, whole=True, wheel=wheel)
        texts[wheel] = plate_files(source, made, KnownPages({}, {}))[RELEASES].decode()
    assert "bindings, kernels and Nodes of both atlases are compared." in texts[False]
    assert "kernels as far as both hold them" in texts[True]
