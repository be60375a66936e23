# SPDX-License-Identifier: BSD-3-Clause
from cartographer.compare.forms import timeline_text
from cartographer.compare.timeline import timelines
from cartographer.model.oplist import OperatorList, OperatorRow


def listed(tag, *rows):
    return OperatorList(tag.removeprefix("v"), tag, None, "", {row.name: row for row in rows})


def row(name, schema, *namesakes):
    return OperatorRow(f"aten::{name}", schema, "native_functions.yaml", 1, namesakes=namesakes)


OLD = listed("v1.2.0", row("add_", "add_(Tensor self, Scalar other) -> Tensor", "add_(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"))
NEW = listed(
    "v1.3.0", row("add_.Tensor", "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"),
    row("add_.Complex", "add_.Complex(Tensor(a!) self, complex other) -> Tensor(a!)"),
)  # fmt: skip


def test_an_overload_that_had_another_name_before_says_so():
    says = {line.name: line.says for line in timelines([OLD, NEW], ["add_"])}
    assert says["aten::add_.Tensor"] == "since v1.3.0 under this name; v1.2.0 has it as aten::add_"
    assert says["aten::add_.Complex"] == "since v1.3.0 (not in v1.2.0)"
    assert says["aten::add_"] == "in v1.2.0 already; unknown before v1.2.0; gone in v1.3.0 (last in v1.2.0)"


def test_overloads_that_share_a_name_are_all_told():
    assert timelines([OLD, NEW], ["add_"])[0].namesakes == ("add_(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",)


def test_releases_that_declared_elsewhere_say_so():
    found = timelines([OLD, NEW], ["add_"])
    assert any("Declarations.cwrap" in line for line in timeline_text(found, ["v0.4.0", "v1.3.0"]))
    assert not any("Declarations.cwrap" in line for line in timeline_text(found, ["v1.2.0", "v1.3.0"]))


def test_bookkeeping_is_one_line_after_what_matters():
    before = OperatorRow("aten::f", "f(Tensor self) -> Tensor", "native_functions.yaml", 1, dispatch={"CPU": "f"}, flags={"device_guard": "False"})
    after = OperatorRow("aten::f", "f(Tensor self) -> Tensor", "native_functions.yaml", 1, dispatch={"CPU": "f", "MPS": "f_mps"}, tags=("core",))
    told = list(timeline_text(timelines([listed("v1.0.0", before), listed("v2.0.0", after)], ["f"]), ["v1.0.0", "v2.0.0"]))
    assert told[-2:] == [
        "  v1.0.0 → v2.0.0      MPS has a kernel of its own: f_mps",
        "  v1.0.0 → v2.0.0      bookkeeping: device_guard changed; gained core",
    ]
