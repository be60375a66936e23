# SPDX-License-Identifier: BSD-3-Clause
"""Which operators a body calls, which of these calls a chain shows, and through which it goes on."""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, operator, steps

from cartographer.model.operator import Origin, Registration


def composite(schema):
    """An operator with one kernel for all keys, which bears its name."""
    return operator(schema, "CompositeImplicitAutograd", f"at::native::{schema.partition('(')[0]}", outcome="math kernel")


def by_device(schema):
    """An operator with a kernel of its own for each device."""
    name = schema.partition("(")[0]
    return replace(
        operator(schema, "CPU, CUDA", ""),
        registrations=tuple(Registration(key, f"at::native::{name}_{key.lower()}", Origin.YAML) for key in ("CPU", "CUDA")),
    )


def test_what_reads_data_is_shown_among_the_calls_and_what_only_asks_is_not():
    files = {N + "S.cpp": """namespace at::native {
Scalar item(const Tensor& self) {
  if (self.is_quiet()) { return 0; }
  return at::_dense(self);
}
bool is_true(const Tensor& self) { return self.item(); }
Tensor f(const Tensor& self) {
  if (self.is_quiet()) { return self; }
  return at::is_true(self);
}
}
"""}
    operators = [
        composite("f(Tensor self) -> Tensor"), composite("is_true(Tensor self) -> bool"), composite("item(Tensor self) -> Scalar"),
        by_device("_dense(Tensor self) -> Scalar"), operator("is_quiet(Tensor self) -> bool", "CPU, CUDA", "at::native::is_quiet"),
    ]  # fmt: skip
    for shown in (("is_true", 9), ("item", 6), ("_dense", 4)):
        assert [(symbol, line) for role, symbol, line in steps(files, *operators, key="CPU") if role == "calls"] == [shown]
        operators.append(operators.pop(0))


def test_a_call_for_another_device_is_none_of_this_ones_and_hides_no_other_of_its_name():
    files = {N + "S.cpp": """namespace at::native {
static Tensor fused(const Tensor& self) { return at::fused_cell(self); }
Tensor f(const Tensor& self) {
  if (self.is_cuda()) {
    fused(self);
    return at::g(self, 1);
  }
  return at::g(self, 2);
}
}
"""}
    operators = [composite("f(Tensor self) -> Tensor"), operator("g(Tensor self, int n) -> Tensor"), operator("fused_cell(Tensor self) -> Tensor")]
    assert [step for step in steps(files, *operators, key="CPU") if step[0] != "entry"] == [("calls", "g", 8)]
    assert [step for step in steps(files, *operators, key="CUDA") if step[0] != "entry"] == [("kernel", "fused", 2), ("calls", "fused_cell", 2), ("calls", "g", 6)]


def test_a_member_of_what_is_no_tensor_is_no_operator():
    files = {"aten/src/ATen/core/TensorBase.h": "namespace at {\nclass TensorBase {\n  IntArrayRef sizes() const { return impl; }\n};\n}\n",
             "c10/util/ArrayRef.h": "namespace c10 {\nclass ArrayRef {\n  ArrayRef slice(size_t n) const { return n; }\n};\n"
             "class SymFloat {\n  SymFloat sqrt() const { return a; }\n};\n}\n",
             N + "S.cpp": """namespace at::native {
Tensor f(const Tensor& self) {
  auto rest = self.sizes().slice(1);
  auto size = self.sizes();
  size.slice(1);
  rest.slice(1);
  IntArrayRef other = size;
  other.slice(1);
  auto root = c10::SymFloat(at::g(self)).sqrt();
  auto either = size.empty() ? at::g(self) : self;
  either.slice(3);
  at::g(self.sizes()).sqrt();
  return self;
}
}
"""}
    operators = [
        composite("f(Tensor self) -> Tensor"), operator("slice(Tensor self, int n) -> Tensor"), operator("sqrt(Tensor self) -> Tensor"),
        operator("g(Tensor self) -> Tensor"),
    ]  # fmt: skip
    assert [(symbol, line) for role, symbol, line in steps(files, *operators, key="CPU") if role == "calls"] == [("g", 9), ("slice", 11), ("sqrt", 12)]
