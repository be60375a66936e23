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
