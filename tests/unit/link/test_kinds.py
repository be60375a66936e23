# SPDX-License-Identifier: BSD-3-Clause
"""Overloads of an operator are told apart by the types of local variables, of elements of lists, and of what calls give."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator

MORE = (
    operator("mul.Tensor(Tensor self, Tensor other) -> Tensor", "CPU", "at::native::mul_t"),
    operator("mul.Scalar(Tensor self, Scalar other) -> Tensor", "CPU", "at::native::mul_s"),
    operator("set.source_Storage(Tensor self, Storage source, int offset) -> Tensor", "CPU", "at::native::set_s"),
    operator("set.source_Tensor(Tensor self, Tensor source, int offset) -> Tensor", "CPU", "at::native::set_t"),
    operator("exp(Tensor self) -> Tensor", "CPU", "at::native::exp_t"),
    operator("numel(Tensor self) -> int", "CPU", "at::native::numel_t"),
)
F = operator("f(Tensor self) -> Tensor", "CPU", "at::native::f_entry")


def meant(body):
    """The operators that the one call of `mul` or `set` can mean."""
    helpers = "static inline Tensor wrapped(int n);\nstatic Tensor either(int n);\nstatic Scalar either(float n);\n"
    entry = f"Tensor f_entry(const Tensor& self, TensorList tensors, ArrayRef<Scalar> scalars) {{\n{body}}}\n"
    maker, _ = made({N + "F.cpp": f"namespace at::native {{\n{helpers}{entry}}}\n"}, F, *MORE)
    notes = [s.note.partition(";")[0] for s in maker.chain(F, "CPU").steps if s.role == "calls"]
    return next(n.replace("aten::", "") for n in notes if "mul" in n or "set" in n)


BOTH = "mul.Scalar or mul.Tensor"


@pytest.mark.parametrize(("before", "argument", "expected"), [
    ("double p = 1. - q;", "p", "mul.Scalar"), ("Tensor t = g();", "t", "mul.Tensor"), ("const auto t = at::exp(self);", "t", "mul.Tensor"), ("auto t = self.exp();", "t", "mul.Tensor"),
    ("auto n = self.numel();", "n", BOTH), ("auto t = exp(2.0);", "t", BOTH), ("scalar_t a = g();", "a", BOTH), ("double p = 1;\n  Tensor p = g();", "p", BOTH), ("", "unknown", BOTH),
    ("double p = 1;", "f(p)", BOTH), ("", "other.exp()", "mul.Tensor"), ("", "at::exp(other)", "mul.Tensor"), ("", "wrapped(2)", "mul.Tensor"), ("", "either(2)", BOTH),
    ("", "tensors[i]", "mul.Tensor"), ("", "scalars[i]", "mul.Scalar"), ("", "unknowns[i]", BOTH), ("", "other.numel()", "mul.Scalar"), ("", "other.item()", "mul.Scalar"),
    ("int64_t n = 3;", "2. / (n - 1)", "mul.Scalar"), ("", "2. / n", BOTH), ("int64_t n = 3;", "2. / static_cast<double>(n - 1)", "mul.Scalar"), ("", "c10::pi<double> * 4", "mul.Scalar"),
    ("for (const auto i : c10::irange(4)) {}", "i", "mul.Scalar"), ("Tensor n = g();", "n * 2", BOTH), ("", "2 * other.exp()", "mul.Tensor"), ("", "b ? 2 : other.exp()", BOTH), ("int64_t n = 3;", "2. / n", "mul.Scalar")])  # fmt: skip
def test_by_what_is_declared_or_set(before, argument, expected):
    assert meant(f"  {before}\n  return self.mul({argument});\n") == expected


@pytest.mark.parametrize(("before", "argument", "expected"), [
    ("Storage storage(use(), 0);", "storage", "set.source_Storage"), ("", "other.storage()", "set.source_Storage"), ("", "self.storage()", "set.source_Storage"),
    ("Storage storage(use(), 0);", "std::move(storage)", "set.source_Storage or set.source_Tensor"), ("", "std::move(self)", "set.source_Tensor")])  # fmt: skip
def test_storages_and_what_is_moved(before, argument, expected):
    assert meant(f"  {before}\n  return self.set({argument}, 0);\n") == expected
