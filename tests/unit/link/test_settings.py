# SPDX-License-Identifier: BSD-3-Clause
"""What most people's calls answer where a condition asks a function of the tree, or for a setting of the context."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, operator, steps

F = operator("f(Tensor self) -> Tensor", "CUDA, CPU", "at::native::f_entry")
CONTEXT = {
    "aten/src/ATen/Context.h": """class Context {
 private:
  bool careful = false;
#ifdef USE_ROCM
  bool quick_library = false;
#else
  bool quick_library = true;
#endif
  at::Solver solver =
      c10::utils::check_env("PREFER_NEW") == true
      ? at::Solver::New
      : at::Solver::Plain;
};
""",
    "aten/src/ATen/Context.cpp": """namespace at {
bool Context::isCareful() const {
  return careful;
}
bool Context::hasQuick() const {
  return quick_library;
}
at::Solver Context::preferred() const {
  return solver;
}
}
""",
}


def launched(body, before="", files=None):
    """The kernels that `f_entry` launches, the first one's first."""
    text = (f"namespace at::native {{\n__global__ void yes(int* p) {{}}\n__global__ void no(int* p) {{}}\n{before}"
            f"Tensor f_entry(const Tensor& self) {{\n{body}}}\n}}\n")
    return [s for role, s, _ in steps({N + "cuda/F.cu": text, **(files or {})}, F) if role == "device"]


def either(condition, before="", inside="", files=None):
    return launched(f"{inside}  if ({condition}) {{\n    yes<<<8, 8>>>(p);\n  }} else {{\n    no<<<8, 8>>>(p);\n  }}\n", before, files)


@pytest.mark.parametrize(("returned", "first"), [
    ("a.scalar_type() == kBFloat16 && large(a)", "no"), ("(a.is_contiguous(at::MemoryFormat::ChannelsLast)) && (a.size(1) > 3)", "no"),
    ("(a.size(-2) + a.size(-1)) <= 128", "no"), ("other_type(a) || a.scalar_type() == kHalf", "no"), ("n <= INT_MAX && lda >= std::max(int64_t{1}, (flag ? n : m))", "yes")])  # fmt: skip
def test_a_function_says_of_which_tensors_it_is_true(returned, first):
    asked = f"static bool large(const Tensor& a) {{\n  return a.numel() > limit();\n}}\nstatic bool other_type(const Tensor& a) {{\n  return isComplexType(a.scalar_type());\n}}\nbool use_new(const Tensor& a) {{\n  return ({returned});\n}}\n"
    assert either("use_new(self)", asked)[0] == first
    assert either("!use_new(self)", asked)[0] == {"yes": "no", "no": "yes"}[first]


def test_a_function_with_ways_out_that_differ_says_nothing():
    asked = "bool use_new(const Tensor& a) {\n  if (small(a)) {\n    return false;\n  }\n  return true;\n}\n"
    assert either("use_new(self) && fast_path", asked)[0] == "yes"
    guarded = "bool use_new(const Tensor& a) {\n#ifdef USE_ROCM\n  return true;\n#endif\n  return false;\n}\n"
    assert either("use_new(self) && fast_path", guarded)[0] == "no"


@pytest.mark.parametrize(("condition", "first"), [
    ("at::globalContext().isCareful()", "no"), ("!at::globalContext().isCareful()", "yes"), ("ctx.hasQuick()", "yes"), ("preferred == at::Solver::New", "no"),
    ("at::globalContext().preferred() != at::Solver::Plain", "no"), ("preferred == Solver::Plain", "yes")])  # fmt: skip
def test_settings_are_those_that_nobody_has_changed(condition, first):
    assert either(condition, files=CONTEXT)[0] == first


def test_a_case_for_what_nobody_has_set_comes_after_the_default():
    body = "  switch (preferred) {\n    case at::Solver::New:\n      yes<<<8, 8>>>(p);\n      break;\n    case at::Solver::Plain:\n      no<<<8, 8>>>(p);\n      break;\n  }\n"
    assert launched(body)[0] == "yes"
    assert launched(body, files=CONTEXT)[0] == "no"


@pytest.mark.parametrize(("condition", "inside", "first"), [
    ("batchCount(self) == 1", "", "yes"), ("batchCount(self) > 1", "", "no"), ("n > 1", "  auto n = batchCount(self);\n", "no"), ("flag && batchCount(self) >= std::max<int64_t>(2, m / 16)", "", "no"),
    ("batch_size == 1", "", "no"), ("batch_size == 1", "  const int64_t batch_size = batchCount(self);\n", "yes")])  # fmt: skip
def test_a_tensor_holds_one_matrix_and_a_batch_several_of_them(condition, inside, first):
    assert either(condition, inside=inside)[0] == first


def test_traits_hold_for_float():
    trait = "template <typename scalar_t>\nusing is_plain = std::integral_constant<bool,\n    std::is_same_v<scalar_t, double> ||\n    std::is_same_v<scalar_t, {}>>;\n"
    assert either("is_plain<scalar_t>::value", trait.format("float"))[0] == "yes"
    assert either("is_plain<scalar_t>::value", trait.format("int64_t"))[0] == "no"
    assert either("!is_plain<scalar_t>::value", trait.format("int64_t"))[0] == "yes"


def test_what_does_not_stand_there_may_decide():
    long = "batchCount(self) > 1 && " + " && ".join(f"is_good_enough_{n}(self)" for n in range(12))
    assert either(f"!({long})") == either(f"!({long.replace('batchCount(self) > 1', 'x')})")


def test_a_library_is_as_likely_as_the_stub_for_those_whom_it_does_not_serve():
    text = ("namespace at::native {\nbool use_lib(int n, int lda) {\n  return (n <= INT_MAX) && (lda <= INT_MAX);\n}\nDEFINE_DISPATCH(gemm_stub);\nDEFINE_DISPATCH(f_stub);\n"
            "void gemm_kernel() {\n  cpu_kernel(iter, [](float v) { return v; });\n}\nREGISTER_DISPATCH(gemm_stub, &gemm_kernel)\n"
            "static void gemm(int n, int lda) {\n  if (use_lib(n, lda)) {\n    sgemm_(n);\n    return;\n  }\n  gemm_stub(kCPU, n);\n}\nTensor f_entry(const Tensor& self) {\n  gemm(n, lda);\n}\n}\n")
    found = [s for role, s, _ in steps({N + "F.cpp": text}, F, key="CPU") if role in ("library", "stub")]
    assert found == ["sgemm_", "gemm_stub"]


def test_what_the_context_lists_in_order_is_shown_in_this_order():
    header = "class Context {\n  std::array<at::Backend, at::num_backends> order = {\n      at::Backend::quick,\n      at::Backend::plain};\n};\n"
    f = operator("f(Tensor self) -> Tensor", "CompositeImplicitAutograd", "at::native::f_entry", outcome="math kernel")
    others = [operator(f"{name}(Tensor self) -> Tensor", "CUDA", f"at::native::{name}_entry") for name in ("extra", "plain", "quick")]
    sides = "".join(f"    case Backend::{o.base}:\n      return at::{o.base}(self);\n" for o in others)
    text = f"namespace at::native {{\nTensor f_entry(const Tensor& self) {{\n  switch (backend) {{\n{sides}  }}\n}}\n}}\n"
    called = [s for role, s, _ in steps({N + "F.cpp": text}, f, *others) if role == "calls"]
    assert called == ["extra", "plain", "quick"]
    assert [s for role, s, _ in steps({N + "F.cpp": text, "aten/src/ATen/Context.h": header}, f, *others) if role == "calls"] == ["quick", "plain", "extra"]
