# SPDX-License-Identifier: BSD-3-Clause
"""Functions of a CPU's kernels that loop over elements themselves: the end of a way, after every better one."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, operator, steps

from cartographer.link.plain import loops_over_elements

FILL = "template <typename scalar_t>\nvoid fill_impl(const Tensor& t) {\n  scalar_t* data = t.data_ptr<scalar_t>();\n  for (int i = 0; i < 8; i++) {\n    data[i] = 0;\n  }\n}\n"


def found(body, key="CPU"):
    f = operator("f(Tensor self) -> Tensor", key, "at::native::f_entry")
    others = [operator(f"{name}(Tensor self) -> Tensor", "CPU", f"at::native::{name}") for name in ("empty_like", "fill")]
    return steps({N + "F.cpp": f"namespace at::native {{\n{FILL}{body}}}\n"}, f, *others, key=key)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(scalar_t* data) { for (auto i : irange(n)) { data[i] = 1; } }", True), ("(T* out) { for (;;) { *out++ = 1; } }", True),
        ("() { auto p = t.data_ptr<scalar_t>(); for (;;) { v.store(p + d); } }", True), ("(float* data) { data[0] = 1; }", False),
        ("(float* data) { for (;;) { sum += data[i]; } }", False), ("() { auto p = t.data_ptr<int64_t>(); for (;;) { sizes[i] = p[i]; } }", False),
        ("(Tensor t) { for (auto i : irange(n)) { sizes[i] = t.size(i); } }", False), ("() { auto p = t.data_ptr<T>(); std::nth_element(p, p + k, p + n); }", True),
        ("(IntArrayRef sizes) { std::sort(sizes.begin(), sizes.end()); }", False), ("(T* p) { for (;;) { if (p[i] == 1) return; } }", False),
    ],
)  # fmt: skip
def test_a_loop_that_writes_elements_of_tensors_is_work(text, expected):
    assert loops_over_elements(text) is expected


def test_a_function_that_loops_itself_ends_a_way_on_a_cpu_and_what_else_is_called_stands_behind():
    body = "void f_entry(const Tensor& self) {\n  auto t = at::empty_like(self);\n  fill_impl<float>(t);\n}\n"
    assert found(body) == [("entry", "f_entry", 9), ("device", "fill_impl", 3), ("calls", "empty_like", 10)]
    assert found(body, "CUDA") == [("entry", "f_entry", 9), ("calls", "empty_like", 10)]


def test_such_a_function_comes_after_a_loop_that_is_handed_to_a_launcher_and_after_an_operator_that_works():
    body = "void f_entry(const Tensor& self) {\n  if (big) {\n    fill_impl<float>(self);\n  } else {\n    at::parallel_for(0, 8, 1, [&](int64_t a, int64_t b) {\n      g(a);\n    });\n  }\n}\n"
    assert found(body) == [("entry", "f_entry", 9), ("device", "lambda", 13), ("device", "fill_impl", 3)]
    body = "void fill(const Tensor& self) {\n  at::parallel_for(0, 8, 1, [&](int64_t a, int64_t b) { g(a); });\n}\nvoid f_entry(const Tensor& self) {\n  at::fill(self);\n  fill_impl<float>(self);\n}\n"
    assert [(role, line) for role, _, line in found(body)] == [("entry", 12), ("calls", 13), ("entry", 9), ("device", 10)]


def test_the_kernel_of_a_stub_ends_in_the_function_that_loops():
    body = ('DEFINE_DISPATCH(f_stub);\nvoid f_kernel(const Tensor& t) {\n  AT_DISPATCH_ALL_TYPES(t, "f", [&] { fill_impl<scalar_t>(t); });\n}\n'
        "REGISTER_DISPATCH(f_stub, &f_kernel)\nvoid f_entry(const Tensor& self) { f_stub(kCPU, self); }\n")  # fmt: skip
    files = {N + "cpu/F.cpp": f"namespace at::native {{\n{FILL}{body}}}\n"}
    assert steps(files, operator("f(Tensor self) -> Tensor", "CPU", "at::native::f_entry"), key="CPU")[-2:] == [("kernel", "f_kernel", 10), ("device", "fill_impl", 3)]


APPLY = "template <typename T, typename F>\nvoid apply(const F& op, T* out, const T* in, int64_t n) {\n  for (int64_t i = 0; i < n; i++) {\n    out[i] = op(in[i]);\n  }\n}\n"


def test_of_a_function_that_loops_over_what_it_is_handed_the_lambda_is_shown():
    body = f"{APPLY}void f_entry(const Tensor& self) {{\n  apply<float>([](float x) {{ return x + 1; }}, p, q, 8);\n}}\n"
    assert found(body) == [("entry", "f_entry", 15), ("device", "lambda", 16)]


def test_a_lambda_in_a_function_that_a_macro_makes_in_a_header_stands_behind_that_function():
    header = "#define MAKE_ALL(op) \\\n  template <typename T> \\\n  inline void all_##op(T* out, const T* in, int64_t n) { \\\n    apply([](T x) { return x.op(); }, out, in, n); \\\n  }\nMAKE_ALL(tip)\n"
    kernel = "DEFINE_DISPATCH(tip_stub);\nvoid tip_kernel(TensorIteratorBase& iter) {\n  iter.for_each([&](char** data, int64_t n) {\n    all_tip(data[0], data[1], n);\n  });\n}\nREGISTER_DISPATCH(tip_stub, &tip_kernel)\nvoid f_entry(const Tensor& self) { tip_stub(kCPU, self); }\n"
    headers = {"aten/src/ATen/cpu/apply.h": f"namespace at::native {{\n{APPLY}}}\n", "aten/src/ATen/cpu/all.h": f"#include <ATen/cpu/apply.h>\nnamespace at::native {{\n{header}}}\n"}
    files = {**headers, N + "cpu/F.cpp": f"#include <ATen/cpu/all.h>\nnamespace at::native {{\n{kernel}}}\n"}
    found = steps(files, operator("f(Tensor self) -> Tensor", "CPU", "at::native::f_entry"), key="CPU")
    assert found[-4:] == [("kernel", "tip_kernel", 4), ("device", "lambda", 5), ("kernel", "all_tip", 8), ("device", "lambda", 8)]


def test_a_function_loops_itself_past_the_way_out_on_which_it_hands_its_other_loops_over():
    frame = ("template <typename scalar_t>\nvoid frame(const Tensor& t, int64_t reduction) {\n  if (reduction == Reduction::None) {\n    at::parallel_for(0, 8, 1, [&](int64_t a, int64_t b) { g(a); });\n"
        "    return;\n  }\n  scalar_t* data = t.data_ptr<scalar_t>();\n  for (int i = 0; i < 8; i++) {\n    data[0] += data[i];\n  }\n}\n")  # fmt: skip
    entry = "void f_entry(const Tensor& self, int64_t reduction) { frame<float>(self, reduction); }\n"

    def ends(text):
        f = operator("f(Tensor self, int reduction) -> Tensor", "CPU", "at::native::f_entry")
        return [(name, line) for role, name, line in steps({N + "F.cpp": f"namespace at::native {{\n{text}{entry}}}\n"}, f, key="CPU") if role == "device"]

    assert ends(frame) == [("lambda", 5), ("frame", 3)]
    assert ends(frame.replace("data[0] += data[i]", "sum += i")) == [("lambda", 5)]
    assert ends(frame.replace("    return;\n", "")) == [("lambda", 5)]


def test_a_function_that_switches_over_types_and_loops_itself_is_the_work_whatever_it_calls_before():
    middle = ('Tensor middle_of(const Tensor& self) {\n  Tensor in = at::empty_like(self);\n  AT_DISPATCH_ALL_TYPES(in.scalar_type(), "f", [&] {\n'
        "    scalar_t* first = in.data_ptr<scalar_t>();\n    std::nth_element(first, first + 4, first + 8);\n  });\n  return in;\n}\n")  # fmt: skip
    body = f"{middle}Tensor f_entry(const Tensor& self) {{ return middle_of(self); }}\n"
    assert found(body) == [("entry", "f_entry", 17), ("kernel", "middle_of", 9), ("device", "middle_of", 9), ("calls", "empty_like", 10)]
