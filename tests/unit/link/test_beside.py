# SPDX-License-Identifier: BSD-3-Clause
"""What is shown beside the main way."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, operator, steps

STUB = "DEFINE_DISPATCH(f_stub);\nvoid f_kernel(const Tensor& t) {}\nREGISTER_DISPATCH(f_stub, &f_kernel)\n"
LOOP = "void all_of_it(const Tensor& t) {\n  at::parallel_for(0, 8, 1, [&](int64_t a, int64_t b) {\n    g(a);\n  });\n}\n"


def found(body, key="CPU"):
    f = operator("f(Tensor self) -> Tensor", key, "at::native::f_entry")
    return steps({N + "cpu/F.cpp": f"namespace at::native {{\n{STUB}{LOOP}{body}}}\n"}, f, key=key)


def test_a_loop_that_runs_instead_of_a_stub_stands_beside_it_and_one_that_runs_before_does_not():
    body = "void f_entry(const Tensor& self) {\n  if (n == 1) {\n    all_of_it(self);\n    return;\n  }\n  f_stub(kCPU, self);\n}\n"
    assert found(body)[1:] == [("stub", "f_stub", 2), ("registration", "f_stub", 4), ("kernel", "f_kernel", 3), ("device", "lambda", 6)]
    body = "void f_entry(const Tensor& self) {\n  all_of_it(self);\n  f_stub(kCPU, self);\n}\n"
    assert found(body)[1:] == [("stub", "f_stub", 2), ("registration", "f_stub", 4), ("kernel", "f_kernel", 3)]


def test_a_library_stands_before_a_loop_beside_a_stub():
    body = "void f_entry(const Tensor& self) {\n  if (n == 1) { all_of_it(self); }\n  else if (n == 2) { sgemm_(self); }\n  else { f_stub(kCPU, self); }\n}\n"
    assert [s for role, s, _ in found(body) if role in ("library", "device")] == ["sgemm_", "lambda"]
