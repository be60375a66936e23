# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.link.composites import Operators, argument_class
from cartographer.model.fact import Call
from cartographer.model.location import Location
from cartographer.model.operator import Operator, Origin

SCHEMAS = [
    ("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", ("function", "method")),
    ("add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", ("function", "method")),
    ("add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)", ("function",)),
    ("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", ("function", "method")),
    ("sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", ("function", "method")),
    ("sum.dim_DimnameList(Tensor self, Dimname[1] dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", ("function", "method")),
    (("empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
     "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"), ("function",)),
    (("kthvalue.values(Tensor self, int k, int dim=-1, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices) -> "
     "(Tensor(a!) values, Tensor(b!) indices)"), ("function",)),
    ("zero_(Tensor(a!) self) -> Tensor(a!)", ("function", "method")),
]


@pytest.fixture
def operators():
    return Operators(
        Operator(f"aten::{text.partition('(')[0]}", "aten::" + text, Origin.YAML, Location("native_functions.yaml", n), variants=variants)
        for n, (text, variants) in enumerate(SCHEMAS)
    )


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (Call("at::add", "call", 1, ("self", "other")), ("at::add", "aten::add.Tensor")),
        (Call("at::add", "call", 1, ("self", "1")), ("at::add", "aten::add.Scalar")),
        (Call("at::add_out", "call", 1, ("result", "self", "other")), ("at::add_out", "aten::add.out")),
        (Call("self.add", "method", 1, ("other",)), ("Tensor::add", "aten::add.Tensor")),
        (Call("self.sum", "method", 1, ()), ("Tensor::sum", "aten::sum")),
        (Call("at::sum", "call", 1, ("self", "dim", "false")), ("at::sum", "aten::sum.dim_IntList")),
        (Call("at::empty_symint", "call", 1, ("size", "self.options()")), ("at::empty_symint", "aten::empty.memory_format")),
        (Call("at::kthvalue_out", "call", 1, ("values", "indices", "self", "k", "-1", "keepdim")), ("at::kthvalue_out", "aten::kthvalue.values")),
        (Call("at::_ops::add_Tensor::call", "call", 1, ("a", "b", "1")), ("at::_ops::add_Tensor::call", "aten::add.Tensor")),
        (Call("at::redispatch::zero_", "call", 1, ("self",)), ("at::redispatch::zero_", "aten::zero_")),
        (Call("tensor->zero_", "method", 1, ()), None),
        (Call("dim.sum", "method", 1, ()), None),
        (Call("at::native::add", "call", 1, ("self", "other")), None),
        (Call("std::sum", "call", 1, ("self",)), None),
    ],
)
def test_a_call_means_an_operator(operators, call, expected):
    around = {"self": "Tensor", "other": "Tensor", "dim": "int[]", "keepdim": "bool", "k": "int"}
    called = operators.called(call, around)
    assert (called and (called.written, called.main)) == expected


def test_the_text_of_an_argument_tells_its_type():
    assert argument_class("/*keepdim=*/true", {}) == "bool"
    assert argument_class("x.options().dtype(kLong)", {}) == "TensorOptions"
    assert argument_class("foo(x)", {}) == "?"


def test_an_operator_may_be_handed_over_by_name(operators):
    assert operators.referred("at::add_out", Call("at::add_out", "reference", 3)).main == "aten::add.out"
    assert operators.referred("std::add_out", Call("std::add_out", "reference", 3)) is None


def test_a_default_that_the_cpp_api_does_not_have_makes_no_second_meaning():
    rows = (("all(Tensor self) -> Tensor", {}), ("all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", {"cpp_no_default_args": "dim"}))
    place = Location("native_functions.yaml", 1)
    operators = Operators(
        Operator(f"aten::{text.partition('(')[0]}", "aten::" + text, Origin.YAML, place, variants=("function", "method"), extra=extra)
        for text, extra in rows
    )
    assert operators.called(Call("self.all", "method", 1, ()), {"self": "Tensor"}).operators == ("aten::all",)
    assert operators.called(Call("self.all", "method", 1, ("dim",)), {"self": "Tensor"}).operators == ("aten::all.dims",)
