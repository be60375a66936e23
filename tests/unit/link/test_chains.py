# SPDX-License-Identifier: BSD-3-Clause
"""One test for each way by which PyTorch gets from a dispatch entry to device code."""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator, steps

from cartographer.link.chains import chains_in
from cartographer.model.location import Location
from cartographer.model.operator import Origin, Registration, Status

LOOPS = {N + "cuda/Loops.cuh": """
namespace at::native {
template <typename func_t>
__global__ void elementwise_kernel(int n, func_t f) { f(n); }
template <typename func_t>
void gpu_kernel(TensorIteratorBase& iter, const func_t& f) {
  elementwise_kernel<func_t><<<1, 2, 0, stream>>>(iter.numel(), f);
}
template <typename func_t>
void two_kernels(TensorIteratorBase& iter, const func_t& f) {
  if (iter.is_contiguous()) {
    vectorized_kernel<func_t><<<1, 2, 0, stream>>>(iter.numel(), f);
  } else {
    elementwise_kernel<func_t><<<1, 2, 0, stream>>>(iter.numel(), f);
  }
}
template <typename func_t>
__global__ void vectorized_kernel(int n, func_t f) { f(n); }
}
"""}


def test_structured_kernel_stub_registration_lambda_and_launch():
    files = {**LOOPS, N + "Ops.cpp": """namespace at::native {
DEFINE_DISPATCH(mul_stub);
TORCH_IMPL_FUNC(mul_out)(const Tensor& self, const Tensor& result) {
  mul_stub(device_type(), *this);
}
}
""", N + "cuda/Mul.cu": """namespace at::native {
void mul_kernel_cuda(TensorIteratorBase& iter) {
  gpu_kernel(iter, [] GPU_LAMBDA(float a) -> float {
    return a * a;
  });
}
REGISTER_DISPATCH(mul_stub, &mul_kernel_cuda)
}
"""}
    mul = operator("mul.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "CUDA", "at::native::structured_mul_out", Origin.STRUCTURED)
    assert steps(files, mul) == [
        ("entry", "TORCH_IMPL_FUNC(mul_out)", 3), ("stub", "mul_stub", 2), ("registration", "mul_stub", 7), ("kernel", "mul_kernel_cuda", 2),
        ("device", "lambda", 3), ("device", "elementwise_kernel", 4),
    ]


def test_a_macro_makes_the_entry_and_another_the_kernel_with_its_registration():
    files = {N + "Unary.cpp": """namespace at::native {
#define CREATE_UNARY(func_out, func_stub) \\
TORCH_IMPL_FUNC(func_out)(const Tensor& self, const Tensor& result) { \\
  func_stub(device_type(), *this); \\
}
CREATE_UNARY(sin_out, sin_stub)
DEFINE_DISPATCH(sin_stub);
}
""", N + "cpu/UnaryKernel.cpp": """namespace at::native {
#define IMPLEMENT(op) \\
  static void op##_kernel(TensorIteratorBase& iter) { iter.for_each([&](char** d) { vml(d); }); } \\
  REGISTER_DISPATCH(op##_stub, &op##_kernel)

IMPLEMENT(cos)
IMPLEMENT(sin)
}
"""}
    sin = operator("sin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "CPU", "at::native::structured_sin_out", Origin.STRUCTURED)
    assert steps(files, sin, key="CPU") == [
        ("entry", "impl", 6), ("stub", "sin_stub", 7), ("registration", "sin_stub", 7), ("kernel", "sin_kernel", 7), ("device", "lambda", 7),
    ]


def test_overloads_are_told_apart_and_placeholders_passed_over():
    files = {N + "cudnn/RNN.cpp": """namespace at::native {
#if !AT_CUDNN_ENABLED()
Tensor rnn(const Tensor& input, int64_t mode) { TORCH_CHECK(false); }
#else
Tensor rnn(const Tensor& input, bool train) { return input; }
Tensor rnn(const Tensor& input, int64_t mode) { cudnnRNNForward(handle); return input; }
#endif
}
"""}
    rnn = operator("rnn(Tensor input, int mode) -> Tensor", "CUDA", "at::native::rnn")
    assert steps(files, rnn) == [("entry", "rnn", 6), ("library", "cudnnRNNForward", 6)]
    maker, _ = made({N + "cudnn/RNN.cpp": files[N + "cudnn/RNN.cpp"].replace("int64_t mode", "Dimname mode")}, rnn)
    assert maker.chain(rnn, "CUDA").status is Status.UNRESOLVED  # neither overload takes what the operator gives


def test_the_work_itself_is_an_operator_that_the_body_calls():
    files = {N + "Act.cpp": """namespace at::native {
Tensor relu(const Tensor& self) {
  return at::clamp_min(self, 0);
}
Tensor clamp_min(const Tensor& self, const Scalar& min) {
  at::cuda::blas::gemm<float>(1);
}
}
""", "aten/src/ATen/cuda/CUDABlas.cpp": """namespace at::cuda::blas {
template <>
void gemm<double>(int n) { cublasDgemm(n); }
template <>
void gemm<float>(int n) {
  cublasSgemm(n);
}
}
"""}
    relu = operator("relu(Tensor self) -> Tensor", "CUDA", "at::native::relu")
    clamp = operator("clamp_min(Tensor self, Scalar min) -> Tensor", "CUDA", "at::native::clamp_min")
    assert steps(files, relu, clamp) == [
        ("entry", "relu", 2), ("calls", "clamp_min", 3), ("entry", "clamp_min", 5), ("kernel", "gemm<float>", 5), ("library", "cublasSgemm", 6),
    ]


def test_a_composite_shows_the_operators_that_it_calls_and_no_questions():
    files = {N + "Lin.cpp": """namespace at::native {
static Tensor helper(const Tensor& a) { return at::mm(a, a); }
Tensor matmul(const Tensor& a, const Tensor& b) {
  if (a.dim() == 1 && a.is_complex()) {
    return a.dot(b);
  }
  return helper(a);
}
}
"""}
    operators = [
        operator("matmul(Tensor a, Tensor b) -> Tensor", "CompositeImplicitAutograd", "at::native::matmul", outcome="math kernel"),
        operator("dot(Tensor self, Tensor b) -> Tensor"), operator("mm(Tensor self, Tensor b) -> Tensor"), operator("is_complex(Tensor self) -> bool"),
    ]
    maker, _ = made(files, *operators)
    chain = maker.chain(operators[0], "CUDA")
    assert [(s.role, s.symbol, s.line) for s in chain.steps] == [
        ("entry", "at::native::matmul", 3), ("calls", "Tensor::dot", 5), ("kernel", "at::native::helper", 2), ("calls", "at::mm", 2),
    ]
    assert chain.steps[1].branch == "a.dim() == 1 && a.is_complex()"
    assert chain.steps[1].note == "aten::dot"


def test_kernels_launched_inside_local_macros_through_macro_arguments():
    files = {N + "cuda/Index.cu": """namespace at::native {
namespace {
template <typename T> __global__ void smallIndex(T* p) {}
template <typename T> __global__ void largeIndex(T* p) {}
}
namespace sb { template <typename T> void launch(T* p) { smallIndex<T><<<1, 32>>>(p); } }
#define RUN_K(LAUNCH) \\
  LAUNCH<float>(p);
#define RUN(x) RUN_K(sb::launch)
#define LARGE(T) \\
  largeIndex<T> \\
    <<<2, 2>>>(p);
Tensor index_cuda(const Tensor& self) {
  if (self.numel() < 10) {
    RUN(1);
  } else {
    LARGE(float);
  }
}
}
"""}
    index = operator("index(Tensor self) -> Tensor", "CUDA", "at::native::index_cuda")
    found = steps(files, index)
    assert found[0] == ("entry", "index_cuda", 13)
    assert ("device", "smallIndex", 3) in found
    assert ("device", "largeIndex", 4) in found


def test_functors_in_variables_kernels_behind_pointers_and_strings_compiled_at_run_time():
    files = {**LOOPS, N + "cuda/F.cu": """namespace at::native {
struct MulFunctor { float operator()(float a) const { return a; } };
__global__ void dist_kernel(float* p) {}
const auto gcd_string = jiterator_stringify(
  template <typename T> T gcd(T a) { return a; }
);
Tensor f1(const Tensor& self) {
  MulFunctor f;
  gpu_kernel(iter, f);
}
Tensor f2(const Tensor& self) {
  auto impl_fptr = dist_kernel;
  impl_fptr<<<1, 1>>>(p);
}
Tensor f3(const Tensor& self) {
  jitted_gpu_kernel<name, float, float, 1>(iter, gcd_string);
}
}
"""}
    for number, expected in ((1, ("device", "MulFunctor", 2)), (2, ("device", "dist_kernel", 3)), (3, ("device", "gcd_string", 4))):
        found = steps(files, operator(f"f{number}(Tensor self) -> Tensor", "CUDA", f"at::native::f{number}"))
        assert expected in found, number


def test_a_metal_kernel_is_found_by_the_literals_of_its_name():
    files = {N + "mps/operations/Exp.mm": """namespace at::native {
static void exec(const Tensor& self, const std::string& name) {
  auto p = lib.getPipelineStateForFunc(name + "_kernel");
}
Tensor exp_mps(const Tensor& self) {
  exec(self, "exp");
}
}
""", N + "mps/kernels/Exp.metal": "kernel void exp_kernel(device float* p [[buffer(0)]]) {\n}\n"}
    assert steps(files, operator("exp(Tensor self) -> Tensor", "MPS", "at::native::exp_mps"), key="MPS") == [
        ("entry", "exp_mps", 5), ("kernel", "exec", 2), ("device", "exp_kernel", 1),
    ]


def test_code_for_another_device_and_unlikely_branches_lead_nowhere():
    files = {N + "cuda/K.cu": "namespace at::native { __global__ void k() {} void k_cuda(const Tensor& t) { k<<<1, 1>>>(); } }\n",
             N + "Copy.cpp": """namespace at::native {
void fill_memory(const Tensor& t) { k_cuda(t); }
Tensor copy(const Tensor& self) {
  if (self.is_vulkan()) {
    k_cuda(self);
  }
  if (C10_UNLIKELY(deterministic())) {
    fill_memory(self);
  }
}
}
"""}
    assert steps(files, operator("copy(Tensor self) -> Tensor", "CUDA", "at::native::copy")) == [("entry", "copy", 3)]


def test_what_several_backends_share_is_chosen_by_a_switch():
    calls = "".join(f"    case B::{n}: return at::{n}(self);\n" for n in ("cudnn", "slow", "mkl"))
    files = {N + "Conv.cpp": "namespace at::native {\nTensor conv(const Tensor& self) {\n  switch (b) {\n" + calls + "  }\n}\n}\n"}
    others = [operator(f"{n}(Tensor self) -> Tensor", "CUDA", "at::native::conv") for n in ("cudnn", "slow", "mkl")]
    found = steps(files, operator("conv(Tensor self) -> Tensor", "CUDA", "at::native::conv"), *others)
    assert found == [("entry", "conv", 2), ("calls", "cudnn", 4), ("calls", "slow", 5), ("calls", "mkl", 6)]


def test_definite_answers_without_a_kernel():
    only_cpu = operator("f(Tensor self) -> Tensor", "CPU", "at::native::f")
    maker, _ = made({N + "Other.cpp": "int x;\n"}, only_cpu)
    assert maker.chain(only_cpu, "CUDA").reason == "no kernel for CUDA; kernels exist for CPU"
    assert maker.chain(only_cpu, "CPU").status is Status.UNRESOLVED
    fallback = operator("g(Tensor self) -> Tensor", "MPS", "at::mps_fallback", outcome="backend fallback", place=Location(N + "Fallback.mm", 7))
    chain = made({}, fallback)[0].chain(fallback, "MPS")
    assert (chain.status, chain.steps[0].line) == (Status.NONE, 7)


def test_what_the_build_writes_points_to_its_generator():
    generator = "def gen_composite_out_kernel(g):\n    pass\n"
    relu = operator("relu(Tensor self) -> Tensor", "CPU", "at::native::relu")
    out = operator("relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "CPU", "at::native::relu_out", Origin.GENERATED,
                   declared_origin=Origin.GENERATED, generated_from="aten::relu")
    maker, _ = made({"torchgen/native_function_generation.py": generator}, out, relu)
    chain = maker.chain(out, "CPU")
    assert [(s.role, s.symbol, s.path, s.line) for s in chain.steps] == [
        ("entry", "at::native::relu_out", "torchgen/native_function_generation.py", 1),
        ("calls", "relu", N + "native_functions.yaml", 1),
    ]


def test_a_python_kernel_stands_where_it_is_defined():
    meta = operator("cat(Tensor self) -> Tensor", "Meta", "torch._meta.meta_cat", Origin.PYTHON, place=Location("torch/_meta.py", 3))
    maker, _ = made({"torch/_meta.py": "import torch\n\n@register_meta(aten.cat)\ndef meta_cat(self):\n    return self\n"}, meta)
    assert [(s.role, s.symbol, s.line) for s in maker.chain(meta, "Meta").steps] == [("entry", "torch._meta.meta_cat", 4), ("registration", "cat", 3)]


def test_the_catch_all_of_old_releases_and_trees_without_a_table():
    """Up to 1.7 an operator without a dispatch has one catch-all kernel; before 1.4 no table of keys says so."""
    files = {N + "Ops.cpp": "namespace at::native {\nTensor square(const Tensor& self) {\n  return at::mul(self, self);\n}\n}\n"}
    told = operator("square(Tensor self) -> Tensor", "CatchAll", "at::native::square", outcome="catch all")
    assert steps(files, told, key="CPU") == [("entry", "square", 2)]
    silent = operator("square(Tensor self) -> Tensor")
    silent = replace(silent, registrations=told.registrations)
    maker, _ = made(files, silent)
    assert maker.chain(silent, "CPU").steps[0].line == 2
    assert maker.chain(silent, "MPS").status is Status.NONE


def test_a_launcher_may_launch_one_of_two_kernels():
    files = {**LOOPS, N + "cuda/G.cu": "namespace at::native {\nTensor g(const Tensor& self) {\n  two_kernels(iter, [] GPU_LAMBDA (float a) { return a; });\n}\n}\n"}
    assert steps(files, operator("g(Tensor self) -> Tensor", "CUDA", "at::native::g")) == [
        ("entry", "g", 2), ("device", "lambda", 3), ("device", "vectorized_kernel", 18), ("device", "elementwise_kernel", 4),
    ]


def test_an_early_return_puts_the_rest_under_the_opposite_condition():
    files = {**LOOPS, N + "cuda/G.cu": (
        "namespace at::native {\ntemplate <typename func_t>\nvoid nocast(TensorIteratorBase& iter, const func_t& f) {\n  bool contiguous = iter.is_contiguous();\n"
        "  if (contiguous) {\n    return two_kernels(iter, f);\n  }\n  gpu_kernel(iter, [=] GPU_LAMBDA (int i) { return f(i); });\n}\n"
        "Tensor g(const Tensor& self) {\n  if (self.is_mps()) {\n    gpu_kernel(iter, [] GPU_LAMBDA (int i) { return i; });\n    return self;\n  }\n"
        "  nocast(iter, [] GPU_LAMBDA (float a) { return a; });\n}\n}\n"
    )}
    g = operator("g(Tensor self) -> Tensor", "CUDA", "at::native::g")
    found = [(s.role, s.symbol.rpartition("::")[2], s.line, s.branch) for s in made(files, g)[0].chain(g, "CUDA").steps]
    assert found == [
        ("entry", "g", 10, ""), ("device", "lambda", 15, ""), ("kernel", "nocast", 3, ""), ("device", "vectorized_kernel", 18, "contiguous && iter.is_contiguous()"), ("device", "elementwise_kernel", 4, ""),
    ]


def test_a_wheel_says_that_the_bodies_are_not_in_it():
    f = operator("f(Tensor self) -> Tensor", "CPU", "at::native::f")
    chain = made({"aten/src/ATen/core/Tensor.h": "class Tensor {};\n"}, f)[0].chain(f, "CPU")
    assert (chain.status, chain.reason) == (Status.UNRESOLVED, "the bodies of kernels are not in a wheel")
    g = operator("g(Tensor self) -> Tensor", "CPU", "at::native::g", outcome="not in a wheel")
    assert made({}, replace(g, registrations=()))[0].chain(replace(g, registrations=()), "CPU").reason == "what C++ registers for it is not in a wheel"


def test_a_shape_function_whose_class_has_no_prefix():
    files = {
        "aten/src/ATen/TensorMeta.h": "#define TORCH_META_FUNC2(name, overload) void name##_##overload::meta\n",
        N + "Ops.cpp": "namespace at::meta {\nTORCH_META_FUNC2(add, Tensor)(const Tensor& self) {\n  build(self);\n}\n}\n",
    }
    add = operator("add.Tensor(Tensor self) -> Tensor", "Meta", "at::meta::structured_add_Tensor", Origin.STRUCTURED)
    assert steps(files, add, key="Meta") == [("entry", "TORCH_META_FUNC2(add, Tensor)", 2)]


def test_a_kernel_of_a_further_backend_is_followed_and_no_layer_is():
    files = {
        N + "vulkan/ops/Mul.cpp": "namespace at::native::vulkan {\nTensor mul(const Tensor& a) {\n  return a;\n}\n}\n",
        N + "sparse/Mul.cpp": "namespace at::native {\nTensor mul_meta(const Tensor& a) {\n  return a;\n}\n}\n",
    }
    keys = {"Vulkan": "at::native::vulkan::mul", "SparseMeta": "at::native::mul_meta", "Functionalize": "at::functionalization::mul"}
    mul = operator("mul(Tensor a) -> Tensor")
    mul = replace(mul, registrations=tuple(Registration(key, kernel, Origin.LIBRARY) for key, kernel in keys.items()))
    other = replace(mul, name="aten::other", dispatch={"Vulkan": "math kernel"}, registrations=())
    maker, _ = made(files, replace(mul, dispatch=dict.fromkeys(keys, "kernel")), other)
    chains = chains_in(maker.tree)
    assert {key: [(s.path, s.line) for s in chain.steps] for key, chain in chains["aten::mul"].items() if chain.steps} == {
        "SparseMeta": [(N + "sparse/Mul.cpp", 2)], "Vulkan": [(N + "vulkan/ops/Mul.cpp", 2)],
    }
    assert set(chains["aten::other"]) <= {"CPU", "CUDA", "MPS"}


def test_a_registration_may_name_what_a_using_brings_from_a_namespace_inside_its_own():
    body = "namespace at::native::{0}::internal {{\nTensor make(const Tensor& a) {{\n  return a;\n}}\n}}\n"
    files = {N + f"{name}/Conv.cpp": body.format(name) for name in ("xnnpack", "vulkan")} | {N + "xnnpack/Register.cpp": "using internal::make;\n"}
    place = Location(N + "xnnpack/Register.cpp", 1)
    conv = operator("make(Tensor a) -> Tensor", "CPU", "at::native::xnnpack::make", Origin.LIBRARY, place=place)
    maker, _ = made(files, conv)
    assert [(s.path, s.line) for s in maker.chain(conv, "CPU").steps] == [(N + "xnnpack/Conv.cpp", 2)]


def test_a_composite_that_enters_others_of_its_name_goes_on_to_their_stub():
    """As `norm` did through `_norm` and `norm_out` when operators were not structured yet; other functions may only ask something."""
    stub = ("DEFINE_DISPATCH(norm_stub);\nstatic void {0}(const Tensor& self) {{\n  norm_stub(kCPU, self);\n  at::zero(self);\n}}\n"
            "static void _norm(const Tensor& self) {{\n  {0}(self);\n}}\nvoid norm(const Tensor& self) {{\n  _norm(self);\n}}\n")
    kernel = "namespace at::native {\nvoid norm_kernel(const Tensor& self) {\n  at::parallel_for(0, 8, 1, [&](int64_t b, int64_t e) {\n    g(b);\n  });\n}\nREGISTER_DISPATCH(norm_stub, &norm_kernel);\n}\n"
    f = operator("norm(Tensor self) -> Tensor", "CompositeImplicitAutograd", "at::native::norm", outcome="math kernel")
    zero = operator("zero(Tensor self) -> Tensor", "CPU", "at::native::zero_cpu")

    def roles(name):
        files = {N + "F.cpp": f"namespace at::native {{\n{stub.format(name)}}}\n", N + "cpu/K.cpp": kernel}
        return [(role, symbol) for role, symbol, _ in steps(files, f, zero, key="CPU")]

    assert ("stub", "norm_stub") in roles("norm_out")
    assert ("kernel", "norm_kernel") in roles("norm_out")
    assert ("stub", "norm_stub") not in roles("ask")


def test_an_entry_outside_the_code_of_kernels_is_read_when_a_chain_comes_to_it():
    """Files without kernels are scanned without bodies."""
    core = "aten/src/ATen/core/"
    files = {
        core + "Boxing.cpp": 'namespace at {\nTensor carried_on(const Tensor& self) {\n  TORCH_CHECK(false, "none here");\n}\n}\n',
        "aten/src/ATen/EmptyTensor.cpp": "namespace at {\nTensor empty_thing(const Tensor& self) {\n  return at::detail::empty_thing_generic(self);\n}\n"
        "namespace detail {\nTensor empty_thing_generic(const Tensor& self) {\n  return self;\n}\n}\n}\n",
    }
    raising = operator("raising(Tensor self) -> Tensor", "CUDA", "at::carried_on")
    maker, _ = made(files, raising)
    assert "only raises" in maker.chain(raising, "CUDA").steps[0].note
    carried = operator("empty_thing(Tensor self) -> Tensor", "CUDA", "at::empty_thing")
    assert steps(files, carried) == [("entry", "empty_thing", 2), ("kernel", "empty_thing_generic", 6)]


def test_a_kernel_that_first_calls_what_only_raises_does_so_itself():
    files = {
        N + "Named.cpp": "namespace at::native {\nTensor sort(const Tensor& self) {\n  report(\"sort\");\n}\nTensor fill(const Tensor& self) {\n  warn(\"fill\");\n}\n}\n",  # noqa: Q003
        "aten/src/ATen/NamedTensorUtils.h": "namespace at {\n[[noreturn]] inline void report(const char* name) {\n  TORCH_CHECK(false, name);\n}\n"
        "inline void warn(const char* name) {\n  TORCH_CHECK(name, name);\n}\n"
        "inline void each(const char* name) {\n  for (auto n : name) {\n    TORCH_CHECK(false, name);\n  }\n}\n}\n",
        N + "Each.cpp": "namespace at::native {\nTensor some(const Tensor& self) {\n  each(\"some\");\n}\n}\n",  # noqa: Q003
    }
    for name, raises in (("sort", True), ("fill", False), ("some", False)):
        one = operator(f"{name}(Tensor self) -> Tensor", "CUDA", f"at::native::{name}")
        assert made(files, one)[0].chain(one, "CUDA").steps[0].note == ("it only raises an error" if raises else "")


def test_a_written_out_form_calls_the_functional_one_though_both_are_made_of_the_one_in_place():
    """torchgen/native_function_generation.py, gen_composite_out_kernel."""
    generators = {"torchgen/native_function_generation.py": "def gen_composite_out_kernel(g):\n    pass\n"}
    out = operator("__lshift__.Scalar_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "CPU", "at::native::ls_out", Origin.GENERATED, generated_from="aten::__ilshift__.Scalar")
    functional = operator("__lshift__.Scalar(Tensor self) -> Tensor", "CPU", "at::native::ls")
    in_place = operator("__ilshift__.Scalar(Tensor(a!) self) -> Tensor(a!)", "CPU", "at::native::ls_")
    for others, called in (((functional, in_place), "__lshift__.Scalar"), ((in_place,), "__ilshift__.Scalar")):
        assert [s.symbol for s in made(generators, out, *others)[0].chain(out, "CPU").steps if s.role == "calls"] == [called]


def test_a_kernel_that_a_launcher_launches_in_two_cases_has_the_conditions_of_both():
    text = """namespace at::native {
template <typename func_t> __global__ void whole_kernel(func_t f) {}
template <typename func_t> __global__ void part_kernel(func_t f) {}
template <typename func_t>
void launcher(TensorIteratorBase& iter, const func_t& f) {
  if (fast(iter)) {
    if (aligned(iter)) {
      whole_kernel<<<8, 64>>>(f);
    } else {
      part_kernel<<<8, 64>>>(f);
    }
  } else {
    part_kernel<<<8, 64>>>(f);
  }
}
Tensor g(const Tensor& self) {
  launcher(iter, [] GPU_LAMBDA (float a) { return a; });
}
}
"""
    g = operator("g(Tensor self) -> Tensor", "CUDA", "at::native::g")
    found = made({N + "cuda/G.cu": text}, g)[0].chain(g, "CUDA").steps
    (branch,) = {s.branch for s in found if s.symbol.endswith("part_kernel")}
    assert "aligned" in branch
    assert "!(fast(iter))" in branch


def test_a_function_that_looks_up_what_metal_runs_is_no_kernel():
    text = ("namespace at::native {\nTYPE prepared(const char* name) {\n  return lib.getPipelineStateForFunc(name);\n}\n"
            "Tensor f(const Tensor& self) {\n  auto state = prepared(\"plain\");\n}\n}\n")  # noqa: Q003
    shader = {N + "mps/kernels/S.metal": "kernel void plain(device float* p [[buffer(0)]]) {\n}\n"}
    f = operator("f(Tensor self) -> Tensor", "MPS", "at::native::f")
    for returned, kernels in (("id<MTLComputePipelineState>", []), ("void", ["prepared"])):
        found = steps({N + "mps/operations/S.mm": text.replace("TYPE", returned), **shader}, f, key="MPS")
        assert [s for role, s, _ in found if role == "kernel"] == kernels
        assert found[-1][:2] == ("device", "plain")


def test_where_nothing_is_registered_the_functions_behind_the_fallback_of_the_key_are_named():
    path = "aten/src/ATen/spin/Fallback.cpp"
    text = (
        "namespace at {\nstatic void spin_error(const c10::OperatorHandle& op, Stack* stack) {\n  TORCH_CHECK(false, op.name());\n}\n"
        "static void spin_on_cpu(const c10::OperatorHandle& op, Stack* stack) {\n  native::cpu_fallback(op, stack);\n}\n}\n"
    )
    f = operator("f(Tensor self) -> Tensor", "MPS", "at::native::f", outcome="backend fallback")
    maker, _ = made({path: text}, replace(f, registrations=()))
    assert maker.chain(maker.tree.operators[0], "MPS").reason == "no kernel for MPS; its fallback: the backend's, which serves it, or says that nothing does"
    maker, _ = made({path: text}, replace(f, registrations=()))
    maker.tree.fallbacks = {"MPS": tuple(
        Registration("MPS", f"at::{name}", Origin.LIBRARY, boxed=True, place=Location(path, line)) for name, line in (("spin_error", 10), ("spin_on_cpu", 12), ("lost", 14))
    )}
    assert maker.chain(maker.tree.operators[0], "MPS").reason == (
        f"no kernel for MPS; its fallback: at::spin_error ({path}:2), which only raises, or at::spin_on_cpu ({path}:5), or at::lost ({path}:14)"
    )
