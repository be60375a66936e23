# SPDX-License-Identifier: BSD-3-Clause
"""Registrations that name template arguments run the branches for them, and no others."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator, steps

from cartographer.link.bound import bound_by, left
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
    assert {branch: left((branch,), bound) is None for branch in told} == told


KERNELS = "__global__ void yes(int* p) {}\n__global__ void no(int* p) {}\n"
SIDES = "if ({0}) {{\n  yes<<<8, 8>>>(p);\n}} else {{\n  no<<<8, 8>>>(p);\n}}"


@pytest.mark.parametrize(("function", "call", "kernels"), [
    ("void run(const Tensor& t, bool flag) { " + SIDES.format("flag") + " }", "run(self, true);", ["yes"]),
    ("void run(const Tensor& t, bool flag) { " + SIDES.format("flag") + " }", "run(self, self.flag());", ["no", "yes"]),
    ("void run(const Tensor& t, bool flag = false) { " + SIDES.format("flag && n > 2") + " }", "run(self);", ["no"]),
    ("void run(const Tensor& t, bool flag = false);\nvoid run(const Tensor& t, bool flag) { " + SIDES.format("flag") + " }", "run(self);", ["no"]),
    ("void run(const Tensor& t, bool flag) { flag = flag || t.on(); " + SIDES.format("flag") + " }", "run(self, false);", ["no", "yes"]),
    ("void run(const Tensor& t, std::optional<int> n = std::nullopt) { " + SIDES.format("n.has_value()") + " }", "run(self);", ["no"]),
    ("void run(const Tensor& t, std::optional<Tensor> n = std::nullopt) { " + SIDES.format("n.has_value()") + " }", "run(self, self);", ["yes"]),
    ("template <typename T, bool Log> void run(const Tensor& t) { " + SIDES.format("Log") + " }", "run<float, true>(self);", ["yes"]),
    ("template <typename T, bool Log> struct Run { static void apply(const Tensor& t) { " + SIDES.format("Log") + " } };", "Run<float, false>::apply(self);", ["no"]),
    ("void inner(const Tensor& t, bool flag) { " + SIDES.format("flag") + " }\nvoid run(const Tensor& t, bool on) { inner(t, on); }", "run(self, true);", ["yes"]),
    ("struct Inner { void operator()(const Tensor& t, bool flag) { " + SIDES.format("flag") + " } };\nvoid run(const Tensor& t, bool on) { Inner{}(t, on); }", "run(self, false);", ["no"]),
    ("template <int dim> void inner(const Tensor& t) { " + SIDES.format("dim == 2") + " }\ntemplate <int dim> void run(const Tensor& t) { inner<dim>(t); }", "run<3>(self);", ["no"]),
    ("struct Inner { void operator()(const Tensor& t, bool flag) { " + SIDES.format("flag") + " } };", "Inner op;\n  op(self, false);", ["no"]),
    ("void run(const Tensor& t, Tensor& out) { " + SIDES.format("out.defined()") + " }", "at::Tensor r, unused;\n  r = run(self, unused);", ["no"]),
    ("void run(const Tensor& t, Tensor& out) { // out= is no setting of it\n " + SIDES.format("out.defined()") + " }", "run(self, Tensor());", ["no"]),
    ("void run(const Tensor& t, Tensor& out) { " + SIDES.format("out.defined()") + " }", "at::Tensor r, used;\n  used = self + 1;\n  r = run(self, used);", ["no", "yes"]),
    ("void run(const Tensor& t, const Tensor& o = Tensor()) { const bool has = o.defined();\n " + SIDES.format("has") + " }", "run(self);", ["no"]),
    ("void run(const Tensor& t, const Tensor& o = Tensor()) { const bool has = o.defined();\n o = t;\n " + SIDES.format("has") + " }", "run(self);", ["no", "yes"]),
    ("void run(const Tensor& t, std::optional<Tensor> n_opt) { const Tensor& n = *(at::borrow_from_optional_tensor(n_opt));\n " + SIDES.format("n.defined()") + " }", "run(self, std::nullopt);", ["no"]),
    ("void run(const Tensor& t, Kind kind) { " + SIDES.format("kind == SUM_TYPE") + " }", "run(self, mps::PLAIN_TYPE);", ["no"]),
    ("void run(const Tensor& t, Tensor& out) { " + SIDES.format("out.defined()") + " }", "Tensor out; make(self, out); run(self, out);", ["no", "yes"]),
    ("void run(const Tensor& t, const Tensor& out) { " + SIDES.format("out.defined()") + " }\nvoid mid(Tensor out, bool on) { run(out, out); }", "mid(self, true);", ["no", "yes"]),
    ("void run(const Tensor& t, Tensor& out) { " + SIDES.format("out.defined()") + " }\nvoid mid(const Tensor& t, Tensor out) { run(t, out); }", "mid(self, {});", ["no"]),
    ("void run(const Tensor& t, const std::optional<Tensor>& n_opt) { const Tensor& n = *(at::borrow_from_optional_tensor(n_opt));\n " + SIDES.format("n.defined()") + " }",
     "run(self, given.value_or(Tensor()));", ["no", "yes"]),
    ('void run(const Tensor& t, bool flag) { if (t.on()) { warn("see https://x.y"); flag = true; } ' + SIDES.format("flag") + " }", "run(self, false);", ["no", "yes"]),
    ("void run(const Tensor& t, Kind kind) { " + SIDES.format("kind == SUM_TYPE") + " }", "run(self, mps::SUM_TYPE);", ["yes"]),
])
def test_what_a_call_gives_for_parameters(function, call, kernels):
    files = {N + "cuda/F.cu": f"namespace at::native {{\n{KERNELS}{function}\nvoid f_cuda(const Tensor& self) {{ {call} }}\n}}\n"}
    found = steps(files, operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_cuda"))
    assert [s for role, s, _ in found if role == "device"] == kernels


def test_a_stub_that_is_handed_over_is_called_where_the_function_calls_it():
    text = """namespace at::native {
DEFINE_DISPATCH(reduce_stub);
DEFINE_DISPATCH(fill_stub);
template <typename R, typename F>
void f_impl(const Tensor& self, R& reduce_it, F& fill_it, const std::optional<std::string_view> reduce = std::nullopt) {
  if (self.numel() > 4) {
    if (reduce.has_value()) {
      reduce_it(self.device().type(), self);
    } else {
      fill_it(self.device().type(), self);
    }
  }
}
Tensor f(const Tensor& self) { f_impl(self, reduce_stub, fill_stub); }
Tensor g(const Tensor& self, std::string_view reduce) { f_impl(self, reduce_stub, fill_stub, reduce); }
}
"""
    files = {N + "F.cpp": text, N + "cuda/F.cu": "namespace at::native {\nvoid a() {}\nvoid b() {}\nREGISTER_DISPATCH(reduce_stub, &a)\nREGISTER_DISPATCH(fill_stub, &b)\n}\n"}
    for name, stub in (("f", "fill_stub"), ("g", "reduce_stub")):
        f = operator(f"{name}(Tensor self) -> Tensor", "CUDA", f"at::native::{name}")
        found = made(files, f)[0].chain(f, "CUDA").steps
        assert [(s.symbol, s.branch) for s in found if s.role == "stub"] == [(stub, "self.numel() > 4")]


def test_template_arguments_of_a_function_outside_of_namespaces_that_is_no_template():
    text = ("__global__ void k(int n) {}\nvoid run(bool fast) {\n  if (fast) {\n    k<<<8, 8>>>(1);\n  }\n}\n"
            "namespace at::native {\nTensor g(const Tensor& self) {\n  run<int>(true);\n}\n}\n")
    assert steps({N + "cuda/G.cu": text}, operator("g(Tensor self) -> Tensor", "CUDA", "at::native::g")) == [("entry", "g", 8), ("kernel", "run", 2), ("device", "k", 1)]
