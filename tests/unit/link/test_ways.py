# SPDX-License-Identifier: BSD-3-Clause
"""Which of several ways is the main one, what is no way at all, and ways that only variables and classes tell."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator, steps

LAUNCHER = """namespace at::native {
template <typename func_t> __global__ void elementwise_kernel(int n, func_t f) {}
template <typename func_t> void gpu_kernel(TensorIteratorBase& iter, const func_t& f) { elementwise_kernel<func_t><<<8, 64>>>(1, f); }
}
"""


def cuda(body, **more):
    """A CUDA file, and the steps of its `f_cuda`."""
    files = {N + "cuda/Loops.cuh": LAUNCHER, N + "cuda/F.cu": f"namespace at::native {{\n{body}}}\n", **more}
    return steps(files, operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_cuda"))


def test_a_lambda_in_a_variable_is_what_a_loop_runs():
    files = {N + "cpu/F.cpp": "namespace at::native {\nvoid f_cpu(const Tensor& self) {\n  auto loop = [&](int64_t begin, int64_t end) {\n    work(begin);\n  };\n"
             "  at::parallel_for(0, 8, 1, loop);\n}\n}\n"}
    assert steps(files, operator("f(Tensor self) -> Tensor", "CPU", "at::native::f_cpu"), key="CPU") == [("entry", "f_cpu", 2), ("device", "lambda", 3)]


def test_lambdas_of_the_host_are_no_device_code_and_wrapped_ones_are():
    body = "void f_cuda(const Tensor& self) {\n  auto host = [](TensorIterator& iter) { g(iter); };\n  gpu_kernel(iter, host);\n"
    assert ("device", "lambda", 3) not in cuda(body + "}\n")
    assert ("device", "lambda", 3) in cuda(body.replace("[](", "[] GPU_LAMBDA (") + "}\n")
    assert ("device", "lambda", 3) in cuda("void f_cuda(const Tensor& self) {\n  gpu_kernel(iter, func_wrapper<float>([] GPU_LAMBDA(float a) { return a; }));\n}\n")


def test_functors_through_an_alias_but_no_plain_data():
    body = "template <typename T> struct Ops {\n T reduce(T a) { return a; }\n T combine(T a) { return a; }\n T project(T a) { return a; }\n};\nstruct Options { Options(int a) : a(a) {} int a; };\n"
    call = "void f_cuda(const Tensor& self) {\n  using ops_t = Ops<float>;\n  ops_t ops(self);\n  gpu_kernel(iter, ops);\n}\n"
    assert ("device", "Ops", 2) in cuda(body + call)
    assert ("device", "Options", 7) not in cuda(body + "void f_cuda(const Tensor& self) { gpu_kernel(iter, Options{}); }\n")


def test_of_two_stubs_in_one_call_the_one_named_like_the_entry_is_main():
    files = {N + "Scatter.cpp": """namespace at::native {
DEFINE_DISPATCH(scatter_stub);
DEFINE_DISPATCH(scatter_reduce_stub);
TORCH_IMPL_FUNC(scatter_src_out)(const Tensor& self) { scatter_impl(self, scatter_reduce_stub, scatter_stub); }
TORCH_IMPL_FUNC(scatter_reduce_out)(const Tensor& self) { scatter_impl(self, scatter_reduce_stub, scatter_stub); }
}
""", N + "cuda/Scatter.cu": "namespace at::native {\nvoid a() {}\nvoid b() {}\nREGISTER_DISPATCH(scatter_stub, &a)\nREGISTER_DISPATCH(scatter_reduce_stub, &b)\n}\n"}
    for name, first in (("src", "scatter_stub"), ("reduce", "scatter_reduce_stub")):
        found = steps(files, operator(f"scatter.{name}(Tensor self) -> Tensor", "CUDA", f"at::native::structured_scatter_{name}_out"))
        assert [s for role, s, _ in found if role == "stub"] == [first, *{"scatter_stub", "scatter_reduce_stub"} - {first}]


PACKED = {N + "quantized/Packed.h": "struct Params {\n  virtual Tensor apply(Tensor x) = 0;\n};\n",
          N + "quantized/cpu/A.cpp": "#include <ATen/native/quantized/Packed.h>\nstruct PackedA : public Params {\n  Tensor apply(Tensor x) override {\n"
          "    fbgemm::fbgemmPacked(x);\n  }\n};\n",
          N + "quantized/cpu/B.cpp": "struct PackedB : public Params {\n  Tensor apply(Tensor x) override {\n    return x;\n  }\n};\n",
          N + "quantized/cpu/C.cpp": "struct Other {\n  Tensor apply(Tensor x) {\n    ideep::matmul_forward::compute(x);\n  }\n};\n"}


def test_a_virtual_call_enters_what_overrides_and_nothing_that_is_only_named_alike():
    files = {**PACKED, N + "quantized/cpu/Q.cpp": "namespace at::native {\nTensor run(Tensor x, const c10::intrusive_ptr<Params>& packed) {\n  return packed->apply(x);\n}\n}\n"}
    found = steps(files, operator("q(Tensor x, Params packed) -> Tensor", "CPU", "at::native::run"), key="CPU")
    assert found == [("entry", "run", 2), ("kernel", "apply", 3), ("library", "fbgemmPacked", 4), ("kernel", "apply", 2)]


def test_a_method_of_a_class_that_the_file_cannot_see_is_not_entered():
    files = {**PACKED, N + "quantized/cpu/Q.cpp": '#include "A.cpp"\nnamespace at::native {\nTensor run(Tensor x) {\n  return x.lead().apply(x);\n}\n}\n'}
    found = steps(files, operator("q(Tensor x) -> Tensor", "CPU", "at::native::run"), key="CPU")
    assert ("library", "compute", 3) not in found
    assert ("library", "fbgemmPacked", 4) in found


def test_a_call_of_a_variable_or_of_another_class_is_no_operator():
    files = {N + "R.cpp": "namespace at::native {\nTensor r(const Tensor& self) {\n  at::uniform_real<double> uniform(0, 1);\n  double a = uniform(self);\n"
             "  auto p = s.to<double>();\n  return self.to(self);\n}\n}\n"}
    others = [operator("uniform(Tensor self) -> Tensor"), operator("to(Tensor self, Tensor other) -> Tensor"), operator("to.x(Tensor self) -> Tensor")]
    found = steps(files, operator("r(Tensor self) -> Tensor", "CPU", "at::native::r"), *others, key="CPU")
    assert found == [("entry", "r", 2), ("calls", "to", 6)]


def test_what_checks_adds_or_keeps_books_is_not_the_main_way():
    body = """__global__ void book(int* p) {}
__global__ void work(int* p) {}
void check_args(const Tensor& t) { book<<<8, 8>>>(t); }
void fill(const Tensor& t) { book<<<8, 8>>>(t); }
void inner(const Tensor& t) { work<<<8, 8>>>(t); }
"""
    for call in ("check_args(self);", "if (symmetric) { fill(self); }", "book<<<1, 1>>>(p);"):
        found = cuda(f"{body}void f_cuda(const Tensor& self) {{\n  {call}\n  inner(self);\n}}\n")
        assert next(s for role, s, _ in found if role == "device") == "work", call


def test_a_function_goes_on_in_its_inner_part_before_a_kept_former_one():
    body = ("__global__ void old(int* p) {}\n__global__ void now(int* p) {}\nvoid run_v7(const Tensor& t) { old<<<8, 8>>>(t); }\n"
        "template <typename T> void run_(const Tensor& t);\ntemplate <> void run_<float>(const Tensor& t) { more(t); }\nvoid more(const Tensor& t) { now<<<8, 8>>>(t); }\n"
        "void run(const Tensor& t) { if (enabled()) { run_<float>(t); } else { run_v7(t); } }\nvoid f_cuda(const Tensor& self) { run(self); }\n")
    assert [s for role, s, _ in cuda(body) if role == "device"][:1] == ["now"]


def test_kernels_that_a_macro_heads_and_kernels_handed_to_a_callback():
    body = ("#define DEFINE_KERNEL(name, ...) template <__VA_ARGS__> __global__ void name(const Params params)\nDEFINE_KERNEL(attn_kernel, bool A) {\n  go(params);\n}\n"
        "void f_cuda(const Tensor& self) {\n  auto kernel = &attn_kernel<true>;\n  kernel<<<8, 8>>>(params);\n}\n")
    assert [(role, line) for role, _, line in cuda(body)] == [("entry", 6), ("device", 3)]
    body = ("__global__ void first(int* p) {}\ntemplate <typename T> void each(T cb) {\n  cb(Kernel<float>(), first);\n}\n"
        "void f_cuda(const Tensor& self) {\n  auto launch = [&](auto k, auto fn) {\n    fn<<<8, 8>>>(p);\n  };\n  each(launch);\n}\n")
    assert cuda(body) == [("entry", "f_cuda", 6), ("kernel", "each", 3), ("device", "first", 2)]


def test_a_graph_of_cudnns_frontend_runs_by_its_method():
    more = {N + "cudnn/MHA.cpp": "#include <cudnn_frontend.h>\nnamespace at::native {\nvoid run_mha(const Tensor& t) {\n  graph->execute(handle, pack);\n}\n}\n"}
    assert cuda("void f_cuda(const Tensor& self) { run_mha(self); }\n", **more)[-1] == ("library", "graph->execute", 4)


def test_a_metal_kernels_name_filled_in_by_the_caller():
    files = {N + "mps/operations/Bit.mm": """namespace at::native {
static void exec(const Tensor& self, const std::string& kernel_name) {
  auto p = lib.getPipelineStateForFunc(kernel_name);
}
static void bit(const Tensor& self, const std::string& op_name) {
  exec(self, fmt::format("bit_{}_tensor", op_name));
}
Tensor xor_mps(const Tensor& self) { bit(self, "xor"); }
}
""", N + "mps/kernels/Bit.metal": "kernel void bit_and_tensor(device float* p [[buffer(0)]]) {\n}\nkernel void bit_xor_tensor(device float* p [[buffer(0)]]) {\n}\n"}
    found = steps(files, operator("bit(Tensor self) -> Tensor", "MPS", "at::native::xor_mps"), key="MPS")
    assert [s for s in found if s[0] == "device"] == [("device", "bit_xor_tensor", 3)]


def test_an_operator_looked_up_in_the_dispatcher_and_overriders_behind_a_calls_result():
    files = {"torch/csrc/distributed/c10d/Backend.hpp": "namespace c10d {\nstruct Backend {\n  virtual int reduce(Tensor t) { return 0; }\n};\nstruct Group {\n"
             "  c10::intrusive_ptr<Backend> getBackend(int d) { return b; }\n};\n}\n",
             "torch/csrc/distributed/c10d/Nccl.cpp": "namespace c10d {\nstruct Nccl : public Backend {\n  int reduce(Tensor t) override {\n    ncclReduce(t);\n  }\n};\n}\n",
             "torch/csrc/distributed/c10d/Ops.cpp": "namespace at::native {\nint reduce_cuda(Tensor t, const c10::intrusive_ptr<c10d::Group>& group) {\n"
             '  return group->getBackend(0)->reduce(t);\n}\nint all(Tensor t) {\n  static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::reduce", "");\n}\n}\n'}
    inner = operator("reduce(Tensor t) -> Tensor", "CUDA", "at::native::reduce_cuda")
    assert steps(files, inner) == [("entry", "reduce_cuda", 2), ("kernel", "reduce", 3), ("library", "ncclReduce", 4), ("kernel", "reduce", 3)]
    maker, _ = made(files, operator("all(Tensor t) -> Tensor", "CUDA", "at::native::all"), inner)
    assert [s.symbol for s in maker.chain(maker.tree.operators[0], "CUDA").steps][1:3] == ["aten::reduce", "at::native::reduce_cuda"]


def test_code_compiled_at_run_time_comes_after_code_compiled_before_and_a_launchers_own_lambda_not_at_all():
    body = ("const auto f_string = jiterator_stringify(\n  template <typename T> T f(T a) { return a; }\n);\nvoid f_cuda(const Tensor& self) {\n"
            "  if (half) { jitted_gpu_kernel<name, float>(iter, f_string); } else { gpu_kernel(iter, [] GPU_LAMBDA(float a) { return a; }); }\n}\n")
    assert [s for role, s, _ in cuda(body) if role == "device"] == ["lambda", "elementwise_kernel", "f_string"]
    loops = LAUNCHER.replace("{ elementwise_kernel<func_t><<<8, 64>>>(1, f); }", "{ wrapped(1, [=] GPU_LAMBDA(int i) { f(i); }); }") + (
        "namespace at::native { template <typename func_t> void wrapped(int n, const func_t& f) { elementwise_kernel<func_t><<<8, 64>>>(n, f); } }\n")
    body = ("template <typename func_t> struct Launcher { static void launch(TensorIteratorBase& iter, const func_t& f) { gpu_kernel(iter, f); } };\n"
            "template <template <typename> class kernel_t> struct Kernel {\n  template <typename func_t> static void launch(TensorIteratorBase& iter, const func_t& f) {\n"
            "    kernel_t<func_t>::launch(iter, f);\n  }\n};\ntemplate <template <typename> class kernel_t> void flatten(const Tensor& t) {\n"
            "  Kernel<kernel_t>::launch(iter, [=] GPU_LAMBDA(int i) { return i; });\n}\nvoid f_cuda(const Tensor& self) { flatten<Launcher>(self); }\n")
    assert [(s, line) for role, s, line in cuda(body, **{N + "cuda/Loops.cuh": loops}) if role == "device"] == [("lambda", 9)]


def test_of_overloads_for_one_type_each_the_one_for_float_comes_first():
    body = "void gemm(int n, const double* a) { cublasDgemm(a); }\nvoid gemm(int n, const float* a) { cublasSgemm(a); }\nvoid f_cuda(const Tensor& self) { gemm(1, p); }\n"
    assert cuda(body)[1:3] == [("kernel", "gemm", 3), ("library", "cublasSgemm", 3)]


def test_a_metal_kernels_name_put_together_in_a_variable():
    files = {N + "mps/operations/S.mm": 'namespace at::native {\nTensor s_mps(const Tensor& self) {\n  const std::string kernel = "search_" + type(self);\n'
             "  auto p = lib.getPipelineStateForFunc(kernel);\n}\n}\n", N + "mps/kernels/S.metal": "kernel void search(device float* p [[buffer(0)]]) {\n}\n"}
    assert steps(files, operator("s(Tensor self) -> Tensor", "MPS", "at::native::s_mps"), key="MPS")[1:] == [("device", "search", 1)]


def test_what_a_circle_cut_short_is_not_kept():
    body = (
        "__global__ void work() {}\nvoid t(const Tensor& x);\nvoid a(const Tensor& x) { t(x); }\nvoid b(const Tensor& x) { a(x); }\n"
        "void t(const Tensor& x) { a(x); b(x); work<<<1, 1>>>(); }\n"
    )
    first, second = (operator(f"{name}(Tensor self) -> Tensor", "CUDA", f"at::native::{name}") for name in "tb")
    answers = []
    for order in ((first, second), (second, first)):
        maker, _ = made({N + "cuda/F.cu": f"namespace at::native {{\n{body}}}\n"}, first, second)
        answers.append({o.name: [s.symbol for s in maker.chain(o, "CUDA").steps] for o in order})
    assert answers[0] == answers[1]
    assert answers[0]["aten::b"][-1] == "at::native::work"


def test_of_the_methods_of_a_functor_those_that_the_build_has():
    body = ("__global__ void now(int* p) {}\n__global__ void other(int* p) {}\ntemplate <typename T>\nstruct run {\n#if defined(USE_CUDA)\n  void operator()(const Tensor& t) { now<<<8, 8>>>(t); }\n"
            "#else\n  void operator()(const Tensor& t) { other<<<8, 8>>>(t); }\n#endif\n};\nvoid f_cuda(const Tensor& self) { run<float>()(self); }\n")
    assert cuda(body) == [("entry", "f_cuda", 12), ("kernel", "operator()", 7), ("device", "now", 2)]


def test_a_stub_that_is_called_for_the_cpu_with_tensors_that_are_brought_there():
    files = {N + "F.cpp": "namespace at::native {\nDEFINE_DISPATCH(f_stub);\nTensor f(const Tensor& self) {\n  if (self.size(-1) <= 9) {\n    f_stub(at::kCPU, self.to(kCPU));\n"
             "  } else {\n    f_stub(self.device().type(), self);\n  }\n}\n}\n",
             N + "cuda/F.cu": "namespace at::native {\nvoid on_cuda(const Tensor& self) {}\nREGISTER_DISPATCH(f_stub, &on_cuda)\n}\n",
             N + "cpu/F.cpp": "namespace at::native {\nvoid on_cpu(const Tensor& self) { at::parallel_for(0, 8, 1, loop); }\nREGISTER_DISPATCH(f_stub, &on_cpu)\n}\n"}
    f = operator("f(Tensor self) -> Tensor", "CPU, CUDA", "at::native::f")
    found = made(files, f)[0].chain(f, "CUDA").steps
    assert [(s.symbol.rpartition("::")[2], s.branch) for s in found if s.role in ("stub", "kernel")] == [
        ("f_stub", "!(self.size(-1) <= 9)"), ("on_cuda", ""), ("f_stub", "self.size(-1) <= 9"), ("on_cpu", "")]
    assert [s.note.rpartition("; ")[2] for s in found if s.role == "stub"] == [f"called in {N}F.cpp:7", "runs on the CPU"]
    silent = {**files, N + "F.cpp": files[N + "F.cpp"].replace("self.to(kCPU)", "self")}
    assert [s.symbol.rpartition("::")[2] for s in made(silent, f)[0].chain(f, "CUDA").steps if s.role == "kernel"] == ["on_cuda"]


def test_a_functor_that_a_function_template_wraps():
    body = "template <typename T> struct MaxFunctor {\n  T operator()(T a, T b) const { return a; }\n};\nvoid f_cuda(const Tensor& self) {\n  gpu_kernel(iter, func_wrapper<float> (MaxFunctor<float>()));\n}\n"
    assert ("device", "MaxFunctor", 2) in cuda(body)


def test_metal_kernels_by_words_that_a_variable_is_set_to():
    files = {N + "mps/operations/G.mm": "namespace at::native {\nstatic id state(const std::string& name) {\n  return lib.getPipelineStateForFunc(name);\n}\nvoid g_mps(const Tensor& self) {\n"
             '  std::string name;\n  if (n == 0) {\n    name = "digamma";\n  } else {\n    name = "polygamma";\n  }\n  auto p = state(name);\n}\n}\n',
             N + "mps/kernels/G.metal": "kernel void digamma(device float* p [[buffer(0)]]) {\n}\nkernel void polygamma(device float* p [[buffer(0)]]) {\n}\nkernel void other(device float* p [[buffer(0)]]) {\n}\n"}
    found = steps(files, operator("g(Tensor self) -> Tensor", "MPS", "at::native::g_mps"), key="MPS")
    assert [s for role, s, _ in found if role == "device"] == ["digamma", "polygamma"]


def test_a_metal_kernel_of_whose_name_a_literal_is_the_beginning():
    kernels = "".join(f"kernel void {name}(device float* p [[buffer(0)]]) {{\n}}\n" for name in ("fused_adamw_other", "fused_adamw_half_float", "fused_adam_float", "fused_sgd"))
    for literal, wanted in (("fused_adamw_", ["fused_adamw_half_float"]), ("fused_adam_", ["fused_adam_float"]), ("fused_sgd_", ["fused_sgd"]), ("fused_", [])):
        files = {N + "mps/operations/G.mm": "namespace at::native {\nstatic id state(const std::string& name) {\n  return lib.getPipelineStateForFunc(name);\n}\nvoid g_mps(const Tensor& self) {\n"
                 f'  const auto kernel_name = "{literal}" + typeName(self);\n  auto p = state(kernel_name);\n}}\n}}\n', N + "mps/kernels/G.metal": kernels}
        found = steps(files, operator("g(Tensor self) -> Tensor", "MPS", "at::native::g_mps"), key="MPS")
        assert [s for role, s, _ in found if role == "device"] == (wanted or ["getPipelineStateForFunc"])


def test_a_part_of_the_name_that_is_another_operators_tells_what_the_work_is():
    loops = "template <typename F> void each(const F& f) {\n  at::parallel_for(0, 8, 1, [&](int64_t a, int64_t b) { f(a); });\n}\n"
    body = ("void tidy_stats(const Tensor& t) {\n  each([](float v) { return v; });\n}\nvoid fold_scale_rows(const Tensor& t) {\n  each([](float v) { return v * 2; });\n}\n"
        "void fold_entry(const Tensor& self) {\n  tidy_stats(self);\n  fold_scale_rows(self);\n}\n")  # fmt: skip
    files = {N + "cpu/Loops.h": f"namespace at::native {{\n{loops}}}\n", N + "cpu/F.cpp": f"#include <ATen/native/cpu/Loops.h>\nnamespace at::native {{\n{body}}}\n"}
    f = operator("_fold_scale_with_stats(Tensor self) -> Tensor", "CPU", "at::native::fold_entry")
    others = [operator("fold_scale(Tensor self) -> Tensor", "CPU", "at::native::fold_scale")]
    assert [s for role, s, _ in steps(files, f, key="CPU") if role == "kernel"] == ["tidy_stats"]
    assert [s for role, s, _ in steps(files, f, *others, key="CPU") if role == "kernel"] == ["fold_scale_rows"]


INNER = "static void inner(const Tensor& self, int p) {{\n  if ({}) {{\n    at::mul(self, 2);\n  }} else {{\n    a<<<8, 8>>>(self);\n  }}\n}}\n"


@pytest.mark.parametrize(("asked", "argument", "reached"), [("p == 2", "p", False), ("p == 2", "p - 1", True), ("q == 2", "p", True)])
def test_what_the_conditions_around_a_call_deny_is_not_reached_through_it(asked, argument, reached):
    body = f"__global__ void a(int* p) {{}}\n{INNER.format(asked)}void f_cuda(const Tensor& self, int p) {{\n  if (p == 2) {{\n    inner(self, {argument});\n  }}\n}}\n"
    f = operator("f(Tensor self, int p) -> Tensor", "CUDA", "at::native::f_cuda")
    found = steps({N + "cuda/F.cu": f"namespace at::native {{\n{body}}}\n"}, f)
    assert (("device", "a", 2) in found) is reached


def test_what_no_condition_on_the_way_asks_of_layouts_is_searched_once_for_all_of_them():
    files = {
        N + "Two.cpp": "namespace at::native {\nvoid same(const Tensor& self) {\n  if (self.numel() > 1) {\n    one_stub(self.device().type(), self);\n  }\n}\n"
        "void inner(const Tensor& self) {\n  if (self.is_sparse()) {\n    two_stub(self.device().type(), self);\n  } else {\n    one_stub(self.device().type(), self);\n  }\n}\n"
        "void differs(const Tensor& self) {\n  inner(self);\n}\nDEFINE_DISPATCH(one_stub);\nDEFINE_DISPATCH(two_stub);\n}\n",
        N + "cpu/TwoKernel.cpp": "namespace at::native {\nvoid one_kernel(const Tensor& self) {}\nvoid two_kernel(const Tensor& self) {}\n"
        "REGISTER_DISPATCH(one_stub, &one_kernel);\nREGISTER_DISPATCH(two_stub, &two_kernel);\n}\n",
    }
    tree = made(files, operator("same(Tensor self) -> ()"))[0].tree
    same, differs = (tree.index.named(name)[0] for name in ("same", "differs"))
    dense, sparse = tree.search("CPU"), tree.search("SparseCPU")
    assert dense.reach(same).ways
    assert sparse.reach(same) is dense.reach(same)
    assert [[w.site.name for w in search.reach(differs).ways if not search.elsewhere(w.site)] for search in (dense, sparse)] == [["one_stub"], ["two_stub"]]
