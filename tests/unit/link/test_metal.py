# SPDX-License-Identifier: BSD-3-Clause
"""Metal kernels that a file makes by macros of a header, asked for by names that a library of shaders puts together."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator, steps

from cartographer.expand.macros import MacroTable
from cartographer.link.metal import MetalKernels
from cartographer.model.operator import Origin
from cartographer.scan.one import scan_file

FILES = {
    "c10/metal/indexing.h": """template <typename T, typename F>
kernel void binary_dense(device T* out, uint at) { F f; }
#define BINARY_OF(NAME, IN, OUT, MATH) \\
  template [[host_name(#NAME "_strided_" #OUT "_" #IN)]] kernel void :: \\
      c10::metal::binary_strided<IN, NAME##_functor, MATH>(device void* out, uint at); \\
  template [[host_name(#NAME "_dense_" #OUT "_" #IN)]] kernel void ::c10::metal:: \\
      binary_dense<IN, NAME##_functor, MATH>(device void* out, uint at); \\
  template [[host_name(#NAME "_dense_cast_" #OUT)]] kernel void ::c10::metal::binary_cast<IN, NAME##_functor>(device void* out, uint at)
#define BINARY(NAME, IN, OUT) BINARY_OF(NAME, IN, OUT, IN)
#define FUNCTOR(NAME) struct NAME##_functor { float operator()(float x) { return c10::metal::NAME(x); } }
""",
    N + "mps/kernels/Binary.metal": """#include <c10/metal/indexing.h>
struct fmax_functor {
  float operator()(float a, float b) { return a > b ? a : b; }
};
FUNCTOR(zeta);
#define FLOATS(NAME) \\
  BINARY(NAME, half, half); \\
  BINARY(NAME, float, float)
FLOATS(fmax);
BINARY(zeta, float, float);
""",
    N + "mps/Shaders.h": """namespace at::native::mps {
class Shaders {
 public:
  void run_binary(TensorIteratorBase& iter, const std::string& name);
};
}
""",
    N + "mps/Shaders.mm": """namespace at::native::mps {
void Shaders::run_binary(TensorIteratorBase& iter, const std::string& name) {
  const auto suffix = iter.is_contiguous() ? "dense" : "strided";
  const auto cast = iter.input(0).scalar_type() != iter.input(1).scalar_type();
  auto key = cast ? fmt::format("{}_{}_cast_{}", name, suffix, type_of(iter.output()))
                  : fmt::format("{}_{}_{}_{}", name, suffix, type_of(iter.output()), type_of(iter.input(0)));
  auto state = getPipelineStateForFunc(key);
}
}
""",
    N + "mps/operations/Binary.mm": """#include <ATen/native/mps/Shaders.h>
namespace at::native {
static auto& lib = mps::Shaders::bundled();
static void fmax_mps(TensorIteratorBase& iter) {
  lib.run_binary(iter, "fmax");
}
#define REGISTER_BY_NAME_DISPATCH(NAME) \\
  static void NAME##_mps(TensorIteratorBase& iter) { lib.run_binary(iter, #NAME); } \\
  REGISTER_DISPATCH(NAME##_stub, NAME##_mps)
REGISTER_DISPATCH(fmax_stub, &fmax_mps)
REGISTER_BY_NAME_DISPATCH(zeta)
}
""",
    N + "Binary.cpp": """namespace at::native {
DEFINE_DISPATCH(fmax_stub);
DEFINE_DISPATCH(zeta_stub);
TORCH_IMPL_FUNC(fmax_out)(const Tensor& a, const Tensor& b, const Tensor& out) { fmax_stub(device_type(), *this); }
TORCH_IMPL_FUNC(zeta_out)(const Tensor& a, const Tensor& b, const Tensor& out) { zeta_stub(device_type(), *this); }
}
""",
}  # fmt: skip


def of(name):
    found = operator(f"{name}.out(Tensor a, Tensor b, *, Tensor(a!) out) -> Tensor(a!)", "MPS", f"at::native::structured_{name}_out", Origin.STRUCTURED)
    return [(s.symbol, s.line, s.branch) for s in made(FILES, found)[0].chain(found, "MPS").steps if s.role == "device"]


IN_ORDER = "iter.is_contiguous()"


def test_the_kernel_of_the_usual_call_comes_first_with_what_it_computes_and_each_under_its_conditions():
    usual, functor, *others = of("fmax")
    assert usual == ("fmax_dense_float_float", 9, f"!(cast) && {IN_ORDER}")
    assert functor[:2] == ("fmax_functor", 2)
    assert others == [("fmax_dense_cast_float", 9, f"cast && {IN_ORDER}"), ("fmax_strided_float_float", 9, f"!(cast) && !({IN_ORDER})")]


def test_kernels_and_functors_that_macros_make():
    assert [step[:2] for step in of("zeta")][:2] == [("zeta_dense_float_float", 10), ("zeta_functor", 5)]


def named(*names):
    files = {N + "mps/kernels/Some.metal": scan_file("a.metal", "".join(f"kernel void {name}(device float* a) {{}}\n" for name in names).encode())}
    return MetalKernels(files, MacroTable(files, lambda _g: True))


def found(kernels, asked, *given):
    return [kernel.symbol for kernel in kernels.find([asked], given)]


def test_fields_of_a_format_hold_types_and_what_stands_near():
    kernels = named("fmax_strided_float_half", "fmax_dense_half_half", "fmax_dense_float_float", "fmax_dense_cast_float")
    assert found(kernels, "fmax_{}_{}_{}", "dense") == ["fmax_dense_float_float"]
    assert found(kernels, "fmax_{}_cast_{}", "dense") == ["fmax_dense_cast_float"]
    assert found(kernels, "fmax_{}{}_half", "strided") == ["fmax_strided_float_half"]
    assert found(kernels, "fmax_{}_int", "dense") == []


def test_types_that_fill_a_format_are_floats_even_where_their_names_stand_near():
    kernels = named("erf_float_int", "erf_half_half", "erf_float_float", "erf_complex_float_float")
    assert [kernel.symbol for kernel in kernels.find(["erf_{}_{}"], [], ["float", "half"])] == ["erf_float_float"]


def test_a_number_fills_a_field_behind_its_word():
    kernels = named("mm_rows_float_bm16", "mm_rows_mpp_nn_float_bm16_bn64", "mm_rows_float_bm16_u32")
    assert found(kernels, "mm_rows_{}_bm{}{}") == ["mm_rows_float_bm16"]
    assert found(kernels, "mm_rows_mpp_nn_{}_bm{}_bn{}") == ["mm_rows_mpp_nn_float_bm16_bn64"]
    assert found(kernels, "mm_rows_{}_tile{}") == []


def test_a_format_of_many_fields_takes_no_time():
    start = time.process_time()
    assert found(named("a" + "_a" * 60), "a" + "_{}" * 20 + "_b") == []
    assert time.process_time() - start < 1


def test_many_literals_take_little_time():
    kernels = named(*(f"op{i}_dense_float_{j}" for i in range(20) for j in range(50)))
    start = time.process_time()
    kernels.find([f"op{i}_{{}}" for i in range(300)], [f"near{i}_" for i in range(300)])
    assert time.process_time() - start < 5


def test_a_composite_shows_each_kernel_that_a_condition_chooses_by_name():
    kernels = "".join(f"kernel void {name}_float(device float* x) {{}}\n" for name in ("norm", "norm_looped"))
    files = {
        N + "mps/kernels/Norm.metal": kernels,
        N + "mps/operations/Norm.mm": "namespace at::native::mps {\nTensor norm_mps(const Tensor& x, int n) {\n"
        '  const std::string name = n > limit ? "norm_looped" : "norm";\n  lib.getPipelineStateForFunc(fmt::format("{}_{}", name, type(x)));\n  return x;\n}\n}\n',
        N + "Norm.cpp": "namespace at::native {\nTensor norm(const Tensor& x) {\n  if (x.is_mps()) {\n    return mps::norm_mps(x, 8);\n  }\n  return x.mul(x).sum();\n}\n}\n",
    }
    f = operator("norm(Tensor x) -> Tensor", "CompositeImplicitAutograd", "at::native::norm", outcome="math kernel")
    found = steps(files, f, key="MPS")
    assert [s for s in found if s[0] == "device"] == [("device", "norm_float", 1), ("device", "norm_looped_float", 2)]


def test_a_name_that_each_caller_puts_together_is_its_own_request():
    kernels = "".join(f"kernel void {name}_float(device float* x) {{}}\n" for name in ("adam", "adam_amsgrad"))
    caller = '{0}void {1}(const Tensor& x) {{\n  const auto kernel_name = "{1}_" + type(x);\n  apply(kernel_name, x);\n}}\n'
    files = {
        N + "mps/kernels/Adam.metal": kernels,
        N + "mps/operations/Adam.mm": "namespace at::native::mps {\nvoid state(const std::string& name) {\n  lib.getPipelineStateForFunc(name);\n}\n"
        "void apply(const std::string& kernel_name, const Tensor& x) {\n  state(kernel_name);\n}\n" + caller.format("", "adam") + caller.format("", "adam_amsgrad")
        + "void adam_mps(const Tensor& x, bool amsgrad) {\n  if (amsgrad) {\n    adam_amsgrad(x);\n  } else {\n    adam(x);\n  }\n}\n}\n",
    }
    f = operator("adam(Tensor x, bool amsgrad) -> ()", "MPS", "at::native::mps::adam_mps")
    maker, _ = made(files, f)
    found = {s.symbol: s.branch for s in maker.chain(f, "MPS").steps if s.role == "device"}
    assert found == {"adam_float": "!(amsgrad)", "adam_amsgrad_float": "amsgrad"}
