# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.link.gradients import Gradients, names_in_formulas
from cartographer.link.index import Index
from cartographer.model.location import Location
from cartographer.model.operator import Autograd, Formula, Operator, Origin
from cartographer.scan.one import scan_file

PATH = "torch/csrc/autograd/FunctionsManual.cpp"
SOURCE = """namespace torch::autograd::generated::details {
Tensor handle_r_to_c(ScalarType self_st, Tensor gradient) { return gradient; }
Tensor handle_r_to_c(const Tensor& self, Tensor gradient) { return gradient; }
Tensor maybe_multiply(const Tensor& t, const Scalar& s) { return t; }
Tensor sum_backward(const Tensor& grad, c10::SymIntArrayRef sizes, OptionalIntArrayRef dims, bool keepdim) { return grad; }
Tensor sum_backward(const Tensor& grad, c10::SymIntArrayRef sizes, c10::IntArrayRef dims, bool keepdim) { return grad; }
template <typename T> Tensor wide(const T& a, bool b) { return a; }
}
"""


def helpers(schema, *texts):
    place = Location("tools/autograd/derivatives.yaml", 1)
    formulas = tuple(Formula(("self",), text, place) for text in texts)
    operator = Operator(schema.partition("(")[0], schema, Origin.YAML, place, autograd=Autograd((), place, formulas=formulas))
    return [(h.symbol, h.place.line) for h in Gradients(Index({PATH: scan_file(PATH, SOURCE.encode())})).helpers(operator)]


@pytest.mark.parametrize(
    ("schema", "text", "expected"),
    [
        ("aten::add(Tensor self, Scalar alpha) -> Tensor", "handle_r_to_c(self.scalar_type(), maybe_multiply(grad, alpha))",
         [("maybe_multiply", 4), ("handle_r_to_c", 2)]),
        ("aten::add(Tensor self, Tensor other) -> Tensor", "handle_r_to_c(other, grad)", [("handle_r_to_c", 3)]),
        ("aten::sum(Tensor self, int[1]? dim, bool keepdim) -> Tensor", "sum_backward(grad, self.sym_sizes(), dim, keepdim)", [("sum_backward", 5)]),
        ("aten::sum(Tensor self, int[1] dim, bool keepdim) -> Tensor", "sum_backward(grad, self.sym_sizes(), dim, keepdim)", [("sum_backward", 6)]),
        ("aten::f(Tensor self) -> Tensor", "grad.defined() ? wide<Tensor>(grad, true) : Tensor()", [("wide", 7)]),
        ("aten::f(Tensor self) -> Tensor", "grad * at::sin(self) + self.cos(grad)", []),
    ],
)
def test_a_helper_is_the_overload_that_the_formula_means(schema, text, expected):
    assert helpers(schema, text) == expected


def test_each_helper_once_in_the_order_of_the_formulas():
    assert helpers("aten::f(Tensor self, Scalar a) -> Tensor", "maybe_multiply(grad, a)", "maybe_multiply(self, a)") == [("maybe_multiply", 4)]


def test_formulas_may_use_results_and_forward_mode_names():
    operator = Operator("aten::f", "aten::f(Tensor self, int k) -> (Tensor values, Tensor)", Origin.YAML, Location("x", 1))
    known = names_in_formulas(operator)
    assert (known["values"], known["result1"], known["self_t"], known["k"]) == ("Tensor", "Tensor", "Tensor", "int")
