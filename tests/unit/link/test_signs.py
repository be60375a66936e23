# SPDX-License-Identifier: BSD-3-Clause
"""A sign between tensors is a call of the operator that the tree's own headers name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator

from cartographer.link.signs import signs_of
from cartographer.scan.one import scan_file

HEADERS = {
    "aten/src/ATen/TensorOperators.h": "#define AT_FORALL_BINARY_OPS(_) \\\n  _(+, x.add(y), y.add(x)) \\\n  _(-, \\\n    x.sub(y), \\\n    ::at::empty_like(y).fill_(x).sub_(y)) \\\n"
    "  _(!=, x.ne(y), y.ne(x))\n#define OTHER(_) _(*, x.mul(y))\n",
    "aten/src/ATen/templates/TensorBody.h": "namespace at {\nclass TORCH_API Tensor : public TensorBase {\n public:\n  Tensor& operator=(const Tensor& x) {\n    return copy_(x);\n  }\n"
    "  Tensor operator-() const {\n    return neg();\n  }\n  Tensor& operator+=(const Tensor & other) {\n    return add_(other);\n  }\n};\n}\n",
}  # fmt: skip
OPERATORS = (
    operator("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", "CPU", "at::native::add"),
    operator("add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)", "CPU", "at::native::add_"),
    operator("neg(Tensor self) -> Tensor", "CPU", "at::native::neg"),
    operator("ne.Tensor(Tensor self, Tensor other) -> Tensor", "CPU", "at::native::ne"),
    operator("ne.Scalar(Tensor self, Scalar other) -> Tensor", "CPU", "at::native::ne"),
    operator("exp(Tensor self) -> Tensor", "CPU", "at::native::exp"),
    operator("size.int(Tensor self, int dim) -> int", "CPU", "at::native::size"),
)


def calls(body, headers=HEADERS):
    f = operator("f(Tensor self, Tensor other) -> Tensor", "CompositeImplicitAutograd", "at::native::f", outcome="math kernel")
    maker, _ = made({**headers, N + "F.cpp": f"namespace at::native {{\nTensor f(const Tensor& self, const Tensor& other) {{\n{body}\n}}\n}}\n"}, f, *OPERATORS)
    return [(s.symbol, s.line, s.note) for s in maker.chain(f, "CPU").steps if s.role == "calls"]


def test_the_table_is_read_from_the_tree():
    found = signs_of({path: scan_file(path, text.encode()) for path, text in HEADERS.items()})
    assert found.between == {"+": "add", "-": "sub", "!=": "ne", "+=": "add_"}
    assert found.before == {"-": "neg"}
    assert signs_of({}).method("+", alone=False) == ""


def test_signs_are_calls_in_their_place():
    assert calls("  auto x = other.exp();\n  return self != x;") == [("Tensor::exp", 3, "aten::exp"), ("Tensor::ne", 4, "aten::ne.Tensor; written as !=")]
    assert calls("  Tensor x = -self;\n  x += other;\n  return x;") == [("Tensor::neg", 3, "aten::neg; written as -"), ("Tensor::add_", 4, "aten::add_.Tensor; written as +=")]


def test_differences_of_what_operators_give():
    assert calls("  return at::exp(self) + at::exp(other);")[-1] == ("Tensor::add", 3, "aten::add.Tensor; written as +")
    assert calls("  auto x = (self + other).exp();\n  return x != 1;")[-1][0] == "Tensor::ne"
    assert "Tensor::add" not in {c[0] for c in calls("  return at::size(self, 0) + at::size(other, 0);")}


def test_numbers_are_no_tensors_and_without_headers_nothing_is_known():
    assert calls("  auto n = self.size(0);\n  return n != 3;") == []
    assert calls("  return self != other;", {}) == []
