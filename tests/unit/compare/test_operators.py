# SPDX-License-Identifier: BSD-3-Clause
"""Two small operator lists, each kind of change once."""

import json
from dataclasses import replace

import jsonschema

from cartographer.compare.machine import JSON_SCHEMA, as_github, as_json
from cartographer.compare.markdown import as_markdown
from cartographer.compare.operators import compare
from cartographer.compare.selection import Selection, select
from cartographer.compare.text import as_text
from cartographer.model.change import Level
from cartographer.model.oplist import DerivativeRow, OperatorList, OperatorRow

YAML = "aten/src/ATen/native/native_functions.yaml"


def row(schema: str, **more: object) -> OperatorRow:
    values: dict[str, object] = {"dispatch": {"CPU": "f"}, "variants": ("function",)} | more
    return OperatorRow(name="aten::" + schema.partition("(")[0], schema=schema, path=YAML, line=1, **values)  # type: ignore[arg-type]


def listing(version: str, *rows: OperatorRow) -> OperatorList:
    return OperatorList(version, f"v{version}", None, "https://example.org/x", {r.name: r for r in rows})


def ids(old: OperatorRow | None, new: OperatorRow | None) -> set[str]:
    one = [listing("1", *([old] if old else [])), listing("2", *([new] if new else []))]
    return {change.id for change in compare(*one).changes}


def test_arguments() -> None:
    old = row("f(Tensor a, int b, int c=0) -> Tensor")
    assert ids(old, row("f(Tensor a, SymInt b, int c=0) -> Tensor")) == {"arg-retyped"}
    assert ids(old, row("f(Tensor a, int n, int c=0) -> Tensor")) == {"arg-renamed"}
    assert ids(old, row("f(Tensor a, int c=0) -> Tensor")) == {"arg-removed"}
    assert ids(old, row("f(Tensor a, int b, int c=1) -> Tensor")) == {"default-changed"}
    assert ids(old, row("f(Tensor a, int b, int c) -> Tensor")) == {"default-removed"}
    assert ids(old, row("f(Tensor a, int b, *, int c=0) -> Tensor")) == {"arg-made-kwonly"}
    assert ids(old, row("f(Tensor a, int c=0, int b) -> Tensor")) == {"arg-reordered"}
    assert ids(old, row("f(Tensor a, int b, int c=0, bool d=False) -> Tensor")) == {"arg-added-default"}


def test_inplace_twin_is_another_operator() -> None:
    changes = compare(listing("1", row("rename(Tensor a) -> Tensor")), listing("2", row("rename_(Tensor(a!) a) -> Tensor(a!)"))).changes
    assert {(c.id, c.op) for c in changes} == {("op-removed", "aten::rename"), ("op-added", "aten::rename_")}


def test_blocks() -> None:
    old = row("f(Tensor a) -> Tensor", dispatch={"CPU": "f", "CUDA": "f"})
    assert ids(old, replace(old, dispatch={"CUDA": "f", "CPU": "f"})) == set()
    assert ids(old, replace(old, dispatch={"CPU": "f", "CUDA": "g"})) == {"kernel-changed"}
    assert ids(old, replace(old, dispatch={"CPU": "f"})) == {"dispatch-lost"}
    assert ids(old, replace(old, dispatch={"CompositeExplicitAutograd": "f"})) == {"dispatch-lost", "dispatch-gained", "composite-changed"}


def test_a_delegate_that_gains_a_key_changes_what_serves() -> None:
    out = row("f.out(Tensor a, *, Tensor(a!) out) -> Tensor(a!)", structured=True)
    f = row("f(Tensor a) -> Tensor", dispatch={}, structured_delegate="f.out")
    found = compare(listing("1", out, f), listing("2", replace(out, dispatch={"CPU": "f", "MPS": "g"}), f)).changes
    assert {(c.id, c.op) for c in found} == {("dispatch-gained", "aten::f.out"), ("effective-gained", "aten::f")}


def test_a_list_in_which_delegates_go_in_a_circle() -> None:
    f = row("f(Tensor a) -> Tensor", dispatch={}, structured_delegate="f.out")
    out = row("f.out(Tensor a, *, Tensor(a!) out) -> Tensor(a!)", structured_delegate="f.out")
    found = compare(listing("1", out, f), listing("2", replace(out, dispatch={"CPU": "g", "MPS": "g"}), f)).changes
    assert "effective-gained" in {c.id for c in found if c.op == "aten::f"}


def test_derivatives() -> None:
    old = row("f(Tensor a) -> Tensor", derivative=DerivativeRow("d.yaml", 3, {"Default a": "grad"}))
    assert ids(old, replace(old, derivative=DerivativeRow("d.yaml", 9, {"Default a": "grad"}))) == set()
    assert ids(old, replace(old, derivative=DerivativeRow("d.yaml", 9, {"Default a": "2 * grad"}))) == {"derivative-formula-changed"}
    assert ids(old, replace(old, derivative=None)) == {"derivative-entry-removed"}


def test_successor_needs_evidence() -> None:
    gone = row("rfft(Tensor self, int n) -> Tensor", dispatch={"CPU": "rfft"})
    moved = row("fft_rfft(Tensor self, int n) -> Tensor", dispatch={"CPU": "x"}, python_module="fft")
    same_schema = row("other(Tensor self, int n) -> Tensor", dispatch={"CPU": "y"})
    change = next(c for c in compare(listing("1", gone), listing("2", moved, same_schema)).changes if c.id == "op-removed")
    assert change.detail["successor"] == "aten::fft_rfft"
    change = next(c for c in compare(listing("1", gone), listing("2", same_schema)).changes if c.id == "op-removed")
    assert change.detail["successor"] is None
    assert change.level is Level.BREAK


def test_forms() -> None:
    old = listing("1", row("f(Tensor a) -> Tensor"), row("g(Tensor a, int b=0) -> Tensor"))
    new = listing("2", row("f(Tensor a, int b) -> Tensor"), row("g(Tensor a, int b=0) -> Tensor", tags=("core",)))
    found = compare(old, new)
    jsonschema.validate(json.loads(as_json(found)), JSON_SCHEMA)
    text = "\n".join(as_text(found))
    assert "1 breaks" in text
    assert "f(Tensor a, int b) -> Tensor" in text
    assert "| `f` |" in "\n".join(as_markdown(found))
    assert any(line.startswith("::error file=aten") for line in as_github(found))
    assert not select(found, Selection(ops=("h*",))).changes
    assert {c.op for c in select(found, Selection(level=Level.BREAK)).changes} == {"aten::f"}
