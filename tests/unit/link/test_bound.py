# SPDX-License-Identifier: BSD-3-Clause
"""Registrations that name template arguments run the branches for them, and no others."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, operator, steps

from cartographer.link.bound import bound_by, contradicts
from cartographer.model.location import Location

Q = """namespace at::native {
template <bool ReluFused, int bits = 8>
struct QLinear {
  static Tensor run(Tensor x) {
    if (ReluFused) {
      fbgemm::fbgemmPackedRelu(x);
    } else {
      fbgemm::fbgemmPacked(x);
    }
  }
};
TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("plain", TORCH_FN(QLinear<false>::run));
  m.impl("fused",
         TORCH_FN(QLinear</*ReluFused=*/true>::run));
}
}
"""


@pytest.mark.parametrize(("name", "line", "end"), [("plain", 13, ("library", "fbgemmPacked", 8)), ("fused", 14, ("library", "fbgemmPackedRelu", 6))])
def test_a_registration_with_template_arguments(name, line, end):
    q = operator(f"{name}(Tensor x) -> Tensor", "CPU", "at::native::QLinear::run", place=Location(N + "quantized/cpu/q.cpp", line))
    assert steps({N + "quantized/cpu/q.cpp": Q}, q, key="CPU") == [("entry", "run", 4), end]


def test_values_and_conditions():
    bound = bound_by(["m.impl(f<true, 4>)"], "f", "bool Relu, int bits = 8")
    assert bound == (("Relu", "true"), ("bits", "4"))
    assert bound_by(["m.impl(g<true>)"], "f", "bool Relu") == ()
    told = {"Relu": False, "!(Relu)": True, "bits == 8": True, "bits == 4": False, "!(bits == 4)": True, "other": False, "x.dim() == 4 && !Relu": True, "": False}
    assert {branch: contradicts((branch,), bound) for branch in told} == told
