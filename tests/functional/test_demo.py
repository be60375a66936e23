# SPDX-License-Identifier: BSD-3-Clause
"""Every link mechanism of mini torch, with the exact answer. Lines are found by a search in the fixture's text."""

from __future__ import annotations

import re

import pytest

N = "aten/src/ATen/native/"
A = "aten/src/ATen/"
LIST = N + "native_functions.yaml"
DERIVATIVES = "tools/autograd/derivatives.yaml"
LAUNCH = ("device", "at::native::vectorized_elementwise_kernel", N + "cuda/Loops.cuh", "vectorized_elementwise_kernel(int")

# role, symbol, path, the text on the line
MUL_STUB = ("stub", "mul_stub", N + "BinaryOps.cpp", "DEFINE_DISPATCH(mul_stub)")
MUL_CUDA = [
    ("entry", "TORCH_IMPL_FUNC(mul_out)", N + "BinaryOps.cpp", "TORCH_IMPL_FUNC(mul_out)"), MUL_STUB,
    ("registration", "mul_stub", N + "cuda/BinaryMulKernel.cu", "REGISTER_DISPATCH(mul_stub"),
    ("kernel", "at::native::mul_kernel_cuda", N + "cuda/BinaryMulKernel.cu", "void mul_kernel_cuda"),
    ("device", "MulFunctor", N + "cuda/BinaryInternal.h", "struct MulFunctor"), LAUNCH,
]
EXP_ENTRY = [
    ("entry", "at::native::structured_exp_out::impl", N + "UnaryOps.cpp", "CREATE_UNARY_TORCH_IMPL_FUNC(exp_out"),
    ("stub", "exp_stub", N + "UnaryOps.cpp", "DEFINE_DISPATCH(exp_stub)"),
]
MAX_ENTRY = [
    ("entry", "TORCH_IMPL_FUNC(max_out)", N + "ReduceOps.cpp", "TORCH_IMPL_FUNC(max_out)"),
    ("stub", "max_stub", N + "ReduceOps.cpp", "DEFINE_DISPATCH(max_stub)"),
]
RELU_ENTRY = [
    ("entry", "at::native::relu", N + "BinaryOps.cpp", "Tensor relu(const"),
    ("stub", "relu_stub", N + "BinaryOps.cpp", "DEFINE_DISPATCH(relu_stub)"),
]
NOISE_ENTRY = [
    ("entry", "at::native::noise_", N + "Distributions.cpp", "Tensor& noise_("),
    ("kernel", "at::native::NoiseStub::operator()", N + "Distributions.cpp", "void operator()"),
    ("stub", "noise_stub", N + "Distributions.cpp", "DEFINE_DISPATCH(noise_stub)"),
]
ZEROS = ("calls", "at::zeros_of")

CHAINS = {
    # structured, stub, the functor elsewhere
    ("mul.Tensor", "CUDA"): MUL_CUDA,
    ("mul.out", "CUDA"): MUL_CUDA,
    ("mul_.Tensor", "CPU"): [
        MUL_CUDA[0], MUL_STUB,
        ("registration", "mul_stub", N + "cpu/BinaryOpsKernel.cpp", "REGISTER_DISPATCH(mul_stub"),
        ("kernel", "at::native::mul_kernel", N + "cpu/BinaryOpsKernel.cpp", "void mul_kernel"),
        ("device", "lambda", N + "cpu/BinaryOpsKernel.cpp", "cpu_kernel(iter, [=](scalar_t"),
    ],
    ("mul.Tensor", "Meta"): [("entry", "TORCH_META_FUNC2(mul, Tensor)", N + "BinaryOps.cpp", "TORCH_META_FUNC2(mul, Tensor)")],
    # a structured operator on a backend without a kernel
    ("mul.Tensor", "MkldnnCPU"): [
        ("entry", "TORCH_META_FUNC2(mul, Tensor)", N + "BinaryOps.cpp", "TORCH_META_FUNC2(mul, Tensor)"),
        ("calls", "mul.out", LIST, "- func: mul.out("),
    ],
    # a sparse kernel that calls others
    ("mul.Tensor", "SparseCPU"): [
        ("entry", "at::native::mul_sparse", N + "sparse/SparseTensorMath.cpp", "Tensor mul_sparse("),
        (*ZEROS, N + "sparse/SparseTensorMath.cpp", "auto result = at::zeros_of"), ("calls", "at::mul_out", N + "sparse/SparseTensorMath.cpp", "at::mul_out(result"),
    ],
    # ufunc: all but the inner loop is generated
    ("add.Tensor", "CUDA"): [
        ("entry", "at::native::structured_ufunc_add_CUDA::impl", "torchgen/dest/ufunc.py", "def compute_ufunc_cuda("),
        ("stub", "add_stub", N + "BinaryOps.h", "add_stub"),
        ("kernel", "at::native::add_kernel", "torchgen/dest/ufunc.py", "def compute_ufunc_cuda("),
        ("device", "at::native::ufunc::add", N + "ufunc/add.h", "T add(T self"),
    ],
    ("add_.Tensor", "CPU"): [
        ("entry", "at::native::structured_ufunc_add_CPU::impl", "torchgen/dest/ufunc.py", "def compute_ufunc_cpu("),
        ("stub", "add_stub", N + "BinaryOps.h", "add_stub"),
        ("kernel", "at::native::add_kernel", "torchgen/dest/ufunc.py", "def compute_ufunc_cpu_kernel("),
        ("device", "at::native::ufunc::add", N + "ufunc/add.h", "T add(T self"),
    ],
    # made by macros: head, CPU kernel and its registration (ALSO_REGISTER_…), shape function
    ("exp", "CUDA"): [
        *EXP_ENTRY,
        ("registration", "exp_stub", N + "cuda/UnaryOpsKernel.cu", "REGISTER_DISPATCH(exp_stub"),
        ("kernel", "at::native::exp_kernel_cuda", N + "cuda/UnaryOpsKernel.cu", "void exp_kernel_cuda"),
        ("device", "lambda", N + "cuda/UnaryOpsKernel.cu", "gpu_kernel(iter, [] GPU_LAMBDA(float a) -> float {^"), LAUNCH,
    ],
    ("exp_", "CPU"): [
        *EXP_ENTRY,
        ("registration", "exp_stub", N + "cpu/UnaryOpsKernel.cpp", "IMPLEMENT_FLOAT_KERNEL(exp)"),
        ("kernel", "at::native::exp_kernel", N + "cpu/UnaryOpsKernel.cpp", "IMPLEMENT_FLOAT_KERNEL(exp)"),
        ("device", "lambda", N + "cpu/UnaryOpsKernel.cpp", "IMPLEMENT_FLOAT_KERNEL(exp)"),
    ],
    ("exp.out", "Meta"): [("entry", "at::meta::structured_exp::meta", N + "UnaryOps.cpp", "CREATE_UNARY_META_FUNC(exp)")],
    ("exp", "SparseCPU"): [
        ("entry", "at::native::exp_sparse", N + "sparse/SparseTensorMath.cpp", "COALESCED_UNARY_UFUNC(exp)"),
        ("calls", "at::exp", N + "sparse/SparseTensorMath.cpp", "COALESCED_UNARY_UFUNC(exp)"),
    ],
    # device code in a string that is compiled when first used
    ("erfinv", "CUDA"): [
        ("entry", "at::native::structured_erfinv_out::impl", N + "UnaryOps.cpp", "CREATE_UNARY_TORCH_IMPL_FUNC(erfinv_out"),
        ("stub", "erfinv_stub", N + "UnaryOps.cpp", "DEFINE_DISPATCH(erfinv_stub)"),
        ("registration", "erfinv_stub", N + "cuda/UnaryOpsKernel.cu", "REGISTER_DISPATCH(erfinv_stub"),
        ("kernel", "at::native::erfinv_kernel_cuda", N + "cuda/UnaryOpsKernel.cu", "void erfinv_kernel_cuda"),
        ("device", "erfinv_string", N + "cuda/Math.cuh", "const auto erfinv_string"),
    ],
    # the name of the stub is pasted; an X-macro makes the quantized one
    ("eq.Scalar", "CUDA"): [
        ("entry", "at::native::structured_eq_Scalar_out::impl", N + "BinaryOps.cpp", "CREATE_COMPARISON_TORCH_IMPL_FUNC(eq)"),
        ("stub", "eq_stub", N + "BinaryOps.cpp", "DEFINE_DISPATCH(eq_stub)"),
        ("registration", "eq_stub", N + "cuda/BinaryMulKernel.cu", "REGISTER_DISPATCH(eq_stub"),
        ("kernel", "at::native::eq_kernel_cuda", N + "cuda/BinaryMulKernel.cu", "void eq_kernel_cuda"),
        ("device", "lambda", N + "cuda/BinaryMulKernel.cu", "return a == b;"), LAUNCH,
    ],
    ("eq.Tensor", "QuantizedCPU"): [
        ("entry", "at::native::eq_quantized_cpu", N + "quantized/cpu/TensorOperators.cpp", "AT_FORALL_OPERATORS(DEFINE_COMPARATOR)"),
        ("calls", "at::mul", N + "quantized/cpu/TensorOperators.cpp", "AT_FORALL_OPERATORS(DEFINE_COMPARATOR)"),
    ],
    # a structured kernel without `_out`, a one-argument head for an overload, a stub without `_stub`
    ("lerp.Scalar", "CPU"): [
        ("entry", "TORCH_IMPL_FUNC(lerp_Scalar)", N + "Lerp.cpp", "TORCH_IMPL_FUNC(lerp_Scalar)"),
        ("stub", "lerp_kernel_scalar_weight", N + "Lerp.cpp", "DEFINE_DISPATCH(lerp_kernel_scalar_weight)"),
        ("registration", "lerp_kernel_scalar_weight", N + "cpu/BinaryOpsKernel.cpp", "REGISTER_DISPATCH(lerp_kernel_scalar_weight"),
        ("kernel", "at::native::lerp_scalar_kernel", N + "cpu/BinaryOpsKernel.cpp", "void lerp_scalar_kernel"),
        ("device", "lambda", N + "cpu/BinaryOpsKernel.cpp", "return a + b;"),
    ],
    ("lerp.Scalar_out", "Meta"): [("entry", "TORCH_META_FUNC(lerp_Scalar)", N + "Lerp.cpp", "TORCH_META_FUNC(lerp_Scalar)")],
    # the stub is an argument; a reduction; precomputed arguments
    ("max.dim", "CUDA"): [
        *MAX_ENTRY,
        ("registration", "max_stub", N + "cuda/ReduceOpsKernel.cu", "REGISTER_DISPATCH(max_stub"),
        ("kernel", "at::native::max_kernel_impl", N + "cuda/ReduceOpsKernel.cu", "void max_kernel_impl"),
        ("device", "MeanOps", N + "cuda/ReduceOpsKernel.cu", "struct MeanOps"),
        ("device", "at::native::reduce_kernel", N + "cuda/Reduce.cuh", "__global__ void reduce_kernel"),
    ],
    ("max.dim_max", "CPU"): [
        *MAX_ENTRY,
        ("registration", "max_stub", N + "cpu/ReduceOpsKernel.cpp", "REGISTER_DISPATCH(max_stub"),
        ("kernel", "at::native::max_kernel_impl", N + "cpu/ReduceOpsKernel.cpp", "void max_kernel_impl"),
        ("device", "lambda", N + "cpu/ReduceOpsKernel.cpp", "at::parallel_for"),
    ],
    ("max.dim", "Meta"): [("entry", "TORCH_PRECOMPUTE_META_FUNC2(max, dim)", N + "ReduceOps.cpp", "TORCH_PRECOMPUTE_META_FUNC2(max, dim)")],
    # host file, header, device file
    ("gelu", "CUDA"): [
        ("entry", "TORCH_IMPL_FUNC(gelu_out_cuda)", N + "cuda/Activation.cpp", "TORCH_IMPL_FUNC(gelu_out_cuda)"),
        ("kernel", "at::native::GeluCUDAKernelImpl", N + "cuda/ActivationGeluKernel.cu", "void GeluCUDAKernelImpl"),
        ("device", "lambda", N + "cuda/ActivationGeluKernel.cu", "gpu_kernel(it"), LAUNCH,
    ],
    ("gelu.out", "CPU"): [
        ("entry", "TORCH_IMPL_FUNC(gelu_out_cpu)", N + "Activation.cpp", "TORCH_IMPL_FUNC(gelu_out_cpu)"),
        ("stub", "GeluKernel", N + "Activation.cpp", "DEFINE_DISPATCH(GeluKernel)"),
        ("registration", "GeluKernel", N + "cpu/Activation.cpp", "REGISTER_DISPATCH(GeluKernel"),
        ("kernel", "at::native::GeluKernelImpl", N + "cpu/Activation.cpp", "void GeluKernelImpl"),
        ("device", "lambda", N + "cpu/Activation.cpp", "cpu_kernel(it"),
    ],
    # composite
    ("square", "CUDA"): [("entry", "at::native::square", N + "BinaryOps.cpp", "Tensor square("), ("calls", "at::mul", N + "BinaryOps.cpp", "return at::mul(self, self)")],
    ("linear", "MPS"): [
        ("entry", "at::native::linear", N + "LinearAlgebra.cpp", "Tensor linear("), ("calls", "at::addmm", N + "LinearAlgebra.cpp", "return at::addmm(*bias"),
        ("calls", "Tensor::mul", N + "LinearAlgebra.cpp", "return input.mul(weight)"),
    ],
    ("fft_half", "CPU"): [
        ("entry", "at::native::fft_half_symint", N + "LinearAlgebra.cpp", "Tensor fft_half_symint("), ("calls", "at::cumsum", N + "LinearAlgebra.cpp", "at::cumsum"),
    ],
    # not structured, with a stub declared over several lines; other backends
    ("relu", "CUDA"): [
        *RELU_ENTRY,
        ("registration", "relu_stub", N + "cuda/BinaryMulKernel.cu", "REGISTER_DISPATCH(relu_stub"),
        ("kernel", "at::native::relu_kernel_cuda", N + "cuda/BinaryMulKernel.cu", "void relu_kernel_cuda"),
        ("device", "lambda", N + "cuda/BinaryMulKernel.cu", "[=] GPU_LAMBDA"), LAUNCH,
    ],
    ("relu", "CPU"): [
        *RELU_ENTRY,
        ("registration", "relu_stub", N + "cpu/BinaryOpsKernel.cpp", "^relu_stub"),
        ("kernel", "at::native::relu_kernel", N + "cpu/BinaryOpsKernel.cpp", "void relu_kernel"),
        ("device", "lambda", N + "cpu/BinaryOpsKernel.cpp", "[=](float a) -> float { return a > low"),
    ],
    ("relu", "QuantizedCPU"): [("entry", "at::native::relu_quantized_cpu", N + "quantized/cpu/qrelu.cpp", "Tensor relu_quantized_cpu(const")],
    ("relu", "NestedTensorCUDA"): [
        ("entry", "at::native::NestedTensor_relu", N + "nested/NestedTensorUnaryOps.cpp", "Tensor NestedTensor_relu("),
        ("calls", "at::relu", N + "nested/NestedTensorUnaryOps.cpp", "at::relu("),
    ],
    # launch wrapper: header, host file, device file
    ("cumsum", "CUDA"): [
        ("entry", "at::native::cumsum_cuda", N + "cuda/ScanKernels.cpp", "Tensor cumsum_cuda("),
        ("kernel", "at::native::launch_cumsum_cuda_kernel", N + "cuda/CumsumKernel.cu", "void launch_cumsum_cuda_kernel"),
        ("device", "at::native::tensor_kernel_scan", N + "cuda/CumsumKernel.cu", "__global__ void tensor_kernel_scan"),
    ],
    # a Python kernel for Meta
    ("index_select", "Meta"): [
        ("entry", "torch._meta_registrations.meta_index_select", "torch/_meta_registrations.py", "def meta_index_select("),
        ("registration", "index_select", "torch/_meta_registrations.py", "@register_meta([aten.index_select"),
    ],
    # registered from a host file; libraries
    ("sort", "CUDA"): [
        ("entry", "at::native::sort", N + "Sorting.cpp", "sort(const Tensor& self"), ("stub", "sort_stub", N + "Sorting.cpp", "DEFINE_DISPATCH(sort_stub)"),
        ("registration", "sort_stub", N + "cuda/Sort.cpp", "REGISTER_CUDA_DISPATCH(sort_stub"),
        ("kernel", "at::native::sort_cuda_kernel", N + "cuda/Sort.cpp", "void sort_cuda_kernel"),
        ("kernel", "at::native::sortKeyValueInplace", N + "cuda/Sort.cu", "void sortKeyValueInplace"),
        ("library", "cub::DeviceRadixSort::SortPairs", N + "cuda/Sort.cu", "cub::DeviceRadixSort"),
    ],
    ("addmm", "CUDA"): [
        ("entry", "at::native::addmm_cuda", N + "cuda/Blas.cpp", "Tensor addmm_cuda("),
        ("kernel", "at::cuda::blas::gemm<float>", A + "cuda/CUDABlas.cpp", "void gemm<float>"), ("library", "cublasSgemm", A + "cuda/CUDABlas.cpp", "cublasSgemm"),
    ],
    ("addmm", "CPU"): [
        ("entry", "at::native::addmm_cpu", N + "LinearAlgebra.cpp", "Tensor addmm_cpu("), ("kernel", "at::native::gemm", N + "LinearAlgebra.cpp", "static void gemm"),
        ("library", "cblas_sgemm", N + "LinearAlgebra.cpp", "cblas_sgemm"),
    ],
    # nullptr, and REGISTER_NO_CPU_DISPATCH: no kernel of the stub on the CPU
    ("mean", "CPU"): [("entry", "at::native::mean", N + "ReduceOps.cpp", "Tensor mean("), ("calls", "at::cumsum", N + "ReduceOps.cpp", "return at::cumsum")],
    ("segment", "CPU"): [("entry", "at::native::segment", N + "ReduceOps.cpp", "Tensor segment(")],
    # a stub in a functor that is a template argument
    ("noise_", "CUDA"): [
        *NOISE_ENTRY,
        ("registration", "noise_stub", N + "cuda/DistributionNormal.cu", "REGISTER_DISPATCH(noise_stub"),
        ("kernel", "at::native::noise_kernel", N + "cuda/DistributionNormal.cu", "void noise_kernel("),
        ("device", "at::native::noise_kernel_device", N + "cuda/DistributionNormal.cu", "__global__ void noise_kernel_device"),
    ],
    ("noise_", "CPU"): [
        *NOISE_ENTRY,
        ("registration", "noise_stub", N + "cpu/DistributionKernels.cpp", "REGISTER_DISPATCH(noise_stub"),
        ("kernel", "at::native::noise_kernel", N + "cpu/DistributionKernels.cpp", "void noise_kernel("),
        ("device", "lambda", N + "cpu/DistributionKernels.cpp", "cpu_kernel(iter"),
    ],
    # the Meta kernel of an in-place operator: a generated wrapper that only looks at the shape
    ("noise_", "Meta"): [("entry", "noise_", "torchgen/dest/register_dispatch_key.py", "def gen_unstructured")],
    # a virtual call
    ("quantize", "CPU"): [
        ("entry", "at::native::quantize", N + "quantized/QTensor.cpp", "Tensor quantize("),
        ("kernel", "at::PerTensorAffineQuantizer::quantize", A + "quantized/Quantizer.cpp", "PerTensorAffineQuantizer::quantize("),
        ("kernel", "at::native::quantize_tensor_affine", N + "quantized/AffineQuantizer.cpp", "Tensor& quantize_tensor_affine("),
        ("stub", "quantize_affine_stub", N + "quantized/AffineQuantizer.cpp", "DEFINE_DISPATCH(quantize_affine_stub)"),
        ("registration", "quantize_affine_stub", N + "quantized/cpu/QuantizeKernel.cpp", "REGISTER_DISPATCH(quantize_affine_stub"),
        ("kernel", "at::native::quantize_affine_cpu", N + "quantized/cpu/QuantizeKernel.cpp", "void quantize_affine_cpu"),
        ("device", "lambda", N + "quantized/cpu/QuantizeKernel.cpp", "cpu_kernel(iter"),
    ],
    # one macro makes the operator, its stub and the nullptr; another one the kernel and its registration
    ("gru", "CUDA"): [
        ("entry", "at::native::gru", N + "RNN.cpp", "ONE_HIDDEN_RNN(gru)"), ("stub", "gru_cudnn_stub", N + "RNN.cpp", "ONE_HIDDEN_RNN(gru)"),
        ("registration", "gru_cudnn_stub", N + "cudnn/RNN.cpp", "ONE_HIDDEN_RNN(gru)"), ("kernel", "at::native::gru_cudnn", N + "cudnn/RNN.cpp", "ONE_HIDDEN_RNN(gru)"),
        ("library", "cudnnRNNForward", N + "cudnn/RNN.cpp", "ONE_HIDDEN_RNN(gru)"), ("calls", "at::relu", N + "RNN.cpp", "ONE_HIDDEN_RNN(gru)"),
    ],
    ("gru", "CPU"): [("entry", "at::native::gru", N + "RNN.cpp", "ONE_HIDDEN_RNN(gru)"), ("calls", "at::relu", N + "RNN.cpp", "ONE_HIDDEN_RNN(gru)")],
    # two overloads of one C++ name
    ("fill_.Scalar", "CPU"): [("entry", "at::native::fill_", N + "BinaryOps.cpp", "Tensor& fill_(Tensor& self, const Scalar& value)")],
    ("fill_.Tensor", "CUDA"): [
        ("entry", "at::native::fill_", N + "BinaryOps.cpp", "Tensor& fill_(Tensor& self, const Tensor& value)"),
        ("calls", "Tensor::mul_", N + "BinaryOps.cpp", "return self.mul_(value)"), *MUL_CUDA,
    ],
    # lists: made by macros on both sides, given to a launcher of another file
    ("_foreach_mul.Scalar", "CUDA"): [
        ("entry", "at::native::foreach_tensor_mul_scalar_kernel_cuda", N + "cuda/ForeachBinaryOpScalar.cu", "^mul,"),
        ("kernel", "at::native::foreach_binary_op", N + "cuda/ForeachBinaryOpScalar.cu", "foreach_binary_op(TensorList"),
        ("device", "BinaryOpScalarFunctor", N + "cuda/MultiTensorApply.cuh", "struct BinaryOpScalarFunctor"),
        ("device", "at::native::multi_tensor_apply_kernel", N + "cuda/MultiTensorApply.cuh", "__global__ void multi_tensor_apply_kernel"),
    ],
    ("_foreach_mul.Scalar", "CPU"): [("entry", "at::native::foreach_tensor_mul_scalar_kernel_slow", N + "ForeachOpsKernels.cpp", "FOREACH_BINARY_OP_SCALAR(mul)")],
    # views, their copies, and what torchgen adds
    ("narrow_view", "MPS"): [("entry", "at::native::narrow_view", N + "TensorFactories.cpp", "Tensor narrow_view(")],
    ("narrow_view_copy", "CPU"): [
        ("entry", "at::native::narrow_view_copy", "torchgen/gen_functionalization_type.py", "class GenCompositeViewCopyKernel"),
        ("calls", "narrow_view", LIST, "- func: narrow_view("),
    ],
    ("narrow_view_copy.out", "CUDA"): [
        ("entry", "at::native::narrow_view_copy_out", "torchgen/native_function_generation.py", "def gen_composite_out_kernel"),
        ("calls", "narrow_view_copy", LIST, "- func: narrow_view_copy("),
    ],
    ("zeros_of.out", "CPU"): [
        ("entry", "at::native::zeros_of_out_symint", "torchgen/native_function_generation.py", "def gen_composite_out_kernel"),
        ("calls", "zeros_of", LIST, "- func: zeros_of("),
    ],
    ("noise", "CPU"): [
        ("entry", "at::native::noise", "torchgen/native_function_generation.py", "def gen_composite_functional_kernel"), ("calls", "noise_", LIST, "- func: noise_("),
    ],
    ("copy_", "CUDA"): [
        ("entry", "at::native::copy_", N + "Copy.cpp", "Tensor& copy_("), ("stub", "copy_stub", N + "Copy.cpp", "DEFINE_DISPATCH(copy_stub)"),
        ("registration", "copy_stub", N + "cuda/Copy.cu", "REGISTER_DISPATCH(copy_stub"), ("kernel", "at::native::copy_kernel_cuda", N + "cuda/Copy.cu", "void copy_kernel_cuda"),
        ("library", "cudaMemcpyAsync", N + "cuda/Copy.cu", "cudaMemcpyAsync("),
    ],
    # placeholders for builds without the library are not the answer
    ("cudnn_norm", "CUDA"): [
        ("entry", "at::native::cudnn_norm", N + "cudnn/Norm.cpp", "cudnn_norm 2"), ("library", "cudnnNormalizationForwardInference", N + "cudnn/Norm.cpp", "cudnnNormalization"),
    ],
    ("relu", "MkldnnCPU"): [
        ("entry", "at::native::mkldnn_relu", N + "mkldnn/Relu.cpp", "mkldnn_relu 2"), ("library", "ideep::eltwise_forward::compute", N + "mkldnn/Relu.cpp", "ideep::"),
    ],
}  # fmt: skip
# The second of two lines, and a line by its end, which no plain search tells.
LINES = {"cudnn_norm 2": (r"^Tensor cudnn_norm\(", 1), "mkldnn_relu 2": (r"^Tensor mkldnn_relu\(", 1), "gpu_kernel(iter, [] GPU_LAMBDA(float a) -> float {^": (r"float \{$", 0)}


def places(demo, steps):
    def line(path, needle):
        if needle in LINES:
            pattern, nth = LINES[needle]
            return [n for n, text in enumerate(demo.text(path).splitlines(), 1) if re.search(pattern, text)][nth]
        return demo.line(path, needle)

    return [(role, symbol, path, line(path, needle)) for role, symbol, path, needle in steps]


@pytest.mark.parametrize(("name", "key"), CHAINS, ids=lambda value: value)
def test_chain(demo, name, key):
    chain = demo.ops[f"aten::{name}"]["kernels"][key]
    assert [(s["role"], s["symbol"], s["path"], s["line"]) for s in chain["steps"]] == places(demo, CHAINS[name, key])
    assert (chain["status"], chain["reason"]) == ("resolved", None)


def test_launches_inside_local_macros(demo):
    """Through a template helper; one kernel's name stands on the line below its attributes. Which one runs, size decides."""
    path = N + "cuda/Indexing.cu"
    steps = [(s["role"], s["symbol"], s["path"], s["line"]) for s in demo.ops["aten::index_select"]["kernels"]["CUDA"]["steps"]]
    assert steps[:2] == [
        ("entry", "at::native::index_select_cuda", path, demo.line(path, "Tensor index_select_cuda(")),
        ("kernel", "at::native::index_select_out_cuda_impl", path, demo.line(path, "void index_select_out_cuda_impl")),
    ]
    assert sorted(steps[2:]) == [
        ("device", "at::native::indexSelectLargeIndex", path, demo.line(path, "^indexSelectLargeIndex(T*")),
        ("device", "at::native::indexSelectSmallIndex", path, demo.line(path, "__global__ void indexSelectSmallIndex")),
    ]


def test_metal_and_mpsgraph(demo):
    steps = [(s["role"], s["symbol"], s["path"]) for s in demo.ops["aten::mul.out"]["kernels"]["MPS"]["steps"]]
    assert steps[:2] == [("entry", "TORCH_IMPL_FUNC(mul_out_mps)", N + "mps/operations/BinaryOps.mm"), ("kernel", "at::native::mps::binary_op", N + "mps/operations/BinaryOps.mm")]
    assert ("library", "multiplicationWithPrimaryTensor", N + "mps/operations/BinaryOps.mm") in steps
    by_macro = demo.ops["aten::add.out"]["kernels"]["MPS"]["steps"]
    assert by_macro[0]["line"] == demo.line(N + "mps/operations/BinaryOps.mm", "CREATE_MPS_BINARY_TORCH_IMPL_FUNC(add_out_mps)")
    registered = demo.ops["aten::exp"]["kernels"]["MPS"]["steps"]
    assert (registered[2]["path"], registered[2]["line"]) == (N + "mps/operations/Activation.mm", demo.line(N + "mps/operations/Activation.mm", "REGISTER_DISPATCH(exp_stub"))
    metal = [(s["path"], s["line"]) for s in demo.ops["aten::relu"]["kernels"]["MPS"]["steps"] if s["role"] == "device"]
    assert (N + "mps/kernels/Activation.metal", demo.line(N + "mps/kernels/Activation.metal", "kernel void relu_dense(")) in metal


def test_a_choice_at_run_time_shows_its_branches(demo):
    steps = demo.ops["aten::convolve"]["kernels"]["CUDA"]["steps"]
    assert [s["symbol"] for s in steps if s["role"] == "calls"] == ["at::cudnn_norm", "at::addmm"]
    assert "Cudnn" in steps[1]["branch"]


def test_a_choice_of_another_device_is_none_here(demo):
    steps = demo.ops["aten::convolve"]["kernels"]["CPU"]["steps"]
    assert [s["symbol"] for s in steps if s["role"] == "calls"] == ["at::relu", "at::addmm"]


def test_no_kernel_is_an_answer(demo):
    """MPS: the fallback for all, and one registered for a single operator; neither is a kernel of MPS."""
    served = demo.ops["aten::cumsum"]["kernels"]["MPS"]
    assert served["status"] == "none"
    assert "fallback" in served["reason"]
    assert demo.ops["aten::cumsum"]["dispatch"]["MPS"] == "backend fallback"
    assert demo.ops["aten::cudnn_norm"]["kernels"]["CPU"]["status"] == "none"
    boxed = next(r for r in demo.ops["aten::erfinv.out"]["registrations"] if r["key"] == "MPS")
    assert (boxed["kernel"], boxed["place"]["line"]) == ("at::mps_fallback", demo.line(A + "mps/MPSFallback.mm", 'm.impl("erfinv.out"'))


def test_nothing_is_unresolved(demo):
    assert [(name, key) for name, op in demo.ops.items() for key, chain in op["kernels"].items() if chain["status"] == "unresolved"] == []
    assert demo.head["counts"]["unresolved"] == 0
    assert demo.head["counts"]["files_with_errors"] == 0


def test_every_step_stands_on_its_line(demo):
    """The last word of each symbol is on the line, or on the lines of the macro use that makes it."""
    wrong = []
    for name, op in demo.ops.items():
        for key, chain in op["kernels"].items():
            for step in chain["steps"]:
                text = "\n".join(demo.text(step["path"]).splitlines()[step["line"] - 1 : step["line"] + 1])
                word = re.findall(r"\w+", step["symbol"].partition("<")[0].rpartition("(")[2] or step["symbol"])[-1:]
                macro = re.search(r"\b[A-Z_]{6,}\(", text)
                generated = "written by" in step.get("note", "") or step["path"].startswith("torchgen/") or step["symbol"] == "lambda"
                pasted = any(len(part) > 2 and part in step["symbol"].replace("native", "") for part in re.findall(r"\w+", text))
                if not generated and not macro and not pasted and (not word or word[0] not in text):
                    wrong.append((name, key, step, text))
    assert wrong == []


# --- names in Python


def test_bindings(demo):
    def bound(name):
        return [(b["python"], b["function"], b["file"].rpartition("/")[2], b["deprecated"]) for b in demo.ops[name]["bindings"]]

    assert bound("aten::relu_") == [
        ("torch.Tensor.relu_", "THPVariable_relu_", "python_variable_methods.cpp", False), ("torch.relu_", "THPVariable_relu_", bound("aten::relu_")[1][2], False),
    ]
    assert re.fullmatch(r"python_torch_functions_[01]\.cpp", bound("aten::relu_")[1][2])
    assert bound("aten::linear") == [("torch._C._nn.linear", "THPVariable_linear", "python_nn_functions.cpp", False)]
    assert bound("aten::fft_half") == [("torch._C._fft.fft_half", "THPVariable_fft_half", "python_fft_functions.cpp", False)]
    assert [(p, d) for p, _, _, d in bound("aten::addmm")] == [("torch.Tensor.addmm", False), ("torch.addmm", False), ("torch.Tensor.addmm", True), ("torch.addmm", True)]
    assert ("torch.Tensor.__mul__", "THPVariable_mul", "python_variable_methods.cpp", False) in bound("aten::mul.Tensor")
    assert bound("aten::size.int") == [("torch.Tensor.size", "THPVariable_size", "python_variable_methods.cpp", False)]
    assert bound("aten::range_of") == [("torch.range_of", "THPVariable_range_of", "python_torch_functions_manual.cpp", False)]
    assert [p for p, *_ in bound("aten::numpy_T")] == ["torch.Tensor.T"]
    assert bound("aten::narrow_view_copy.out")[0][0] == "torch.narrow_view_copy"
    for skipped in ("aten::threshold_backward", "aten::eq.Scalar_out", "aten::relu.out", "aten::zeros_of.out", "mini::triple", "quantized::relu6"):
        assert bound(skipped) == [], skipped


def test_hand_written_bindings_have_a_place(demo):
    for name, path, needle in (
        ("aten::size.int", "tools/autograd/templates/python_variable_methods.cpp", '{"size"'),
        ("aten::range_of", "torch/csrc/autograd/python_torch_functions_manual.cpp", '{"range_of"'),
        ("aten::numpy_T", "torch/csrc/autograd/python_variable.cpp", '{"T"'),
    ):
        assert demo.ops[name]["bindings"][-1]["place"] == {"path": path, "line": demo.line(path, needle)}


def test_cpp_names(demo):
    assert demo.ops["aten::mul.out"]["cpp"] == {"op": "at::_ops::mul_out", "function": "at::mul_out", "method": None}
    assert demo.ops["aten::copy_"]["cpp"] == {"op": "at::_ops::copy_", "function": None, "method": "at::Tensor::copy_"}


# --- registrations


def registered(op):
    return {r["key"]: (r["kernel"], r["origin"]) for r in op["registrations"] if r["active"]}


def test_registrations_of_a_structured_operator(demo):
    assert registered(demo.ops["aten::mul.Tensor"]) == {
        "Meta": ("at::meta::structured_mul_Tensor", "structured"), "CompositeExplicitAutogradNonFunctional": ("at::meta::structured_mul_Tensor", "structured"),
        "CPU": ("at::native::structured_mul_out", "structured"), "CUDA": ("at::native::structured_mul_out", "structured"),
        "MPS": ("at::native::structured_mul_out_mps", "structured"), "SparseCPU": ("at::native::mul_sparse", "yaml"),
        "SparseCUDA": ("at::native::mul_sparse", "yaml"), "ZeroTensor": ("at::native::mul_zerotensor", "yaml"),
        "Autograd": ("torch::autograd::VariableType::mul_Tensor", "generated"), "Tracer": ("torch::TraceType::mul_Tensor", "generated"),
    }
    out = registered(demo.ops["aten::mul.out"])
    assert (out["CPU"], out["MPS"]) == (("at::native::structured_mul_out", "yaml"), ("at::native::structured_mul_out_mps", "yaml"))
    assert out["Functionalize"][0] == "at::functionalization::mul_out_out"
    assert out["ADInplaceOrView"][0] == "torch::ADInplaceOrView::mul_out_out"
    assert registered(demo.ops["aten::add.out"])["CUDA"] == ("at::native::structured_ufunc_add_CUDA", "yaml")


def test_registrations_by_rule(demo):
    assert registered(demo.ops["aten::square"]) == {
        "CompositeImplicitAutograd": ("at::native::square", "yaml"), "Tracer": ("torch::TraceType::square", "generated"),
        "FuncTorchBatchedDecomposition": ("at::native::square", "library"),
    }
    assert registered(demo.ops["aten::zeros_of"])["BackendSelect"] == ("at::zeros_of", "generated")
    assert registered(demo.ops["aten::eq.Tensor"])["Autograd"][0].endswith("autogradNotImplementedFallback")
    assert registered(demo.ops["aten::relu_"])["Meta"] == (None, "generated")
    view = registered(demo.ops["aten::narrow_view"])
    assert view["AutogradNestedTensor"][0] == "torch::autograd::VariableType::narrow_view_AutogradNestedTensor"
    assert {"ADInplaceOrView", "Functionalize", "Autograd"} < set(view)
    assert registered(demo.ops["aten::relu.out"])["CompositeExplicitAutograd"] == ("at::native::relu_out", "generated")
    assert registered(demo.ops["aten::fft_half"])["CompositeImplicitAutograd"] == ("at::native::fft_half_symint", "yaml")


def test_registrations_by_hand(demo):
    """Through X-macros, helper macros, from several files; each with the line that names the operator."""
    for name, key, kernel, path, needle in (
        ("aten::linear", "AutocastCUDA", "at::autocast::WrapFunction::call", A + "autocast_mode.h", "_(linear)"),
        ("aten::linear", "FuncTorchBatchedDecomposition", "at::native::linear", A + "functorch/BatchRulesDecompositions.cpp", "OP_DECOMPOSE(linear)"),
        ("aten::cumsum", "FuncTorchBatched", "at::functorch::cumsum_batch_rule", A + "functorch/BatchRulesUnaryOps.cpp", "VMAP_SUPPORT(cumsum, cumsum"),
        ("aten::exp", "FuncTorchBatched", "at::functorch::BasicUnaryBatchRuleHelper::apply", A + "functorch/BatchRulesUnaryOps.cpp", "UNARY_POINTWISE(exp)"),
        ("aten::copy_", "Autograd", "torch::autograd::VariableType::copy_", "torch/csrc/autograd/VariableTypeManual.cpp", "DispatchKey::Autograd,"),
        ("aten::copy_", "ADInplaceOrView", "torch::ADInplaceOrView::copy_", "torch/csrc/autograd/VariableTypeManual.cpp", "DispatchKey::ADInplaceOrView,"),
        ("aten::copy_", "Tracer", "torch::TraceType::copy_", "torch/csrc/autograd/TraceTypeManual.cpp", 'm.impl("copy_"'),
        ("aten::relu", "Vulkan", "at::native::vulkan::relu", N + "vulkan/ops/Relu.cpp", '"aten::relu"'),
        ("quantized::relu6", "QuantizedCPU", "at::native::quantized_relu6", N + "quantized/cpu/qrelu.cpp", '"quantized::relu6"'),
        ("aten::narrow_view", "Conjugate", None, A + "ConjugateFallback.cpp", '"narrow_view"'),
        ("aten::cumsum", "Meta", "torch._meta_registrations.meta_cumsum", "torch/_meta_registrations.py", "@register_meta(aten.cumsum.default)"),
        ("mini_stable::twice", "CPU", "twice", "torch/csrc/stable/twice.cpp", 'm.impl("twice"'),
        ("mini::triple", "CompositeExplicitAutograd", "torch._triple.triple", "torch/_triple.py", '_mini.impl("triple"'),
    ):
        found = next(r for r in demo.ops[name]["registrations"] if r["key"] == key)
        assert (found["kernel"], found["place"]) == (kernel, {"path": path, "line": demo.line(path, needle)}), (name, key)
    assert next(r for r in demo.ops["aten::relu"]["registrations"] if r["key"] == "Vulkan")["build"] == ["vulkan"]
    assert next(r for r in demo.ops["aten::narrow_view"]["registrations"] if r["key"] == "Conjugate")["fallthrough"]


def test_operators_outside_the_list(demo):
    for name, origin, path, needle in (
        ("quantized::half", "library", N + "quantized/library.cpp", '"half(Tensor qx'),
        ("mini_stable::twice", "library", "torch/csrc/stable/twice.cpp", 'm.def("twice('),
        ("mini::triple", "python", "torch/_triple.py", '_mini.define("triple'),
    ):
        op = demo.ops[name]
        assert (op["origin"], op["declared"]) == (origin, {"path": path, "line": demo.line(path, needle)})
    assert demo.ops["quantized::half"]["schema"] == "quantized::half(Tensor qx, bool inplace=False) -> Tensor"
    assert demo.ops["mini::triple"]["schema"] == "mini::triple(Tensor x, *, float by=3.) -> Tensor"
    assert "aten::mini_len" not in demo.ops, "it exists for TorchScript alone"


def test_dispatch_table(demo):
    mul = demo.ops["aten::mul.Tensor"]["dispatch"]
    assert {key: mul[key] for key in ("CPU", "SparseCPU", "QuantizedCPU", "ZeroTensor", "AutogradCPU", "BackendSelect", "Conjugate", "Functionalize", "NestedTensorCPU")} == {
        "CPU": "kernel", "SparseCPU": "kernel", "QuantizedCPU": "default backend kernel", "ZeroTensor": "kernel", "AutogradCPU": "autograd kernel",
        "BackendSelect": "fallthrough backend fallback", "Conjugate": "backend fallback", "Functionalize": "missing", "NestedTensorCPU": "missing",
    }  # fmt: skip
    linear = demo.ops["aten::linear"]["dispatch"]
    assert {key: linear[key] for key in ("CPU", "NestedTensorCUDA", "AutogradCUDA", "FuncTorchBatched", "AutocastCUDA", "ADInplaceOrView")} == {
        "CPU": "math kernel", "NestedTensorCUDA": "math kernel", "AutogradCUDA": "math kernel", "FuncTorchBatched": "batched kernel", "AutocastCUDA": "kernel",
        "ADInplaceOrView": "fallthrough backend fallback",
    }  # fmt: skip
    assert demo.ops["aten::narrow_view"]["dispatch"]["Conjugate"] == "fallthrough kernel"
    assert demo.ops["aten::zeros_of"]["dispatch"]["BackendSelect"] == "kernel"


# --- the way back


def test_autograd(demo):
    def back(name):
        found = demo.ops[name]["autograd"]
        return found["nodes"], sorted(found["saved"]), [h["symbol"] for h in found["helpers"]], found["kind"]

    assert back("aten::mul.Tensor") == (["MulBackward0"], ["other", "other_scalar_type", "self", "self_scalar_type"], ["mul_tensor_backward"], "formula")
    assert back("aten::mul_.Tensor")[0] == ["MulBackward0"]
    assert back("aten::mul.out")[0] == []
    assert back("aten::add.Tensor") == (["AddBackward0"], ["alpha"], [], "formula")
    assert back("aten::exp")[:2] == (["ExpBackward0"], ["result"])
    assert back("aten::cumsum") == (["CumsumBackward0"], ["dim", "self_scalar_type"], ["cumsum_backward"], "formula")
    assert back("aten::sort")[:2] == (["SortBackward0"], ["dim", "indices", "self_sym_sizes"])
    assert demo.ops["aten::sort"]["autograd"]["output_differentiability"] == ["True", "False"]
    assert (back("aten::fill_.Scalar")[0], back("aten::fill_.Tensor")[0]) == (["FillBackward0"], ["FillBackward1"])
    assert back("aten::narrow_view")[0] == ["NarrowViewBackward0", "NarrowViewBackwardAutogradNestedTensor0"]
    assert back("aten::narrow_view_copy")[0] == ["NarrowViewBackward0_copy", "NarrowViewBackwardAutogradNestedTensor0_copy"]
    assert back("aten::_foreach_exp")[:2] == (["ForeachExpBackward0"], ["result"])
    assert back("aten::threshold_backward")[0] == ["ThresholdBackwardBackward0"]
    assert back("aten::gelu")[3] == back("aten::eq.Tensor")[3] == "not implemented"
    assert back("aten::square")[3] == "through the operators it calls"
    assert back("aten::copy_")[3] == "by hand"
    assert back("aten::zeros_of")[3] == "not differentiable"


def test_a_helper_is_the_overload_that_fits(demo):
    path = "torch/csrc/autograd/FunctionsManual.cpp"
    helper = demo.ops["aten::cumsum"]["autograd"]["helpers"][0]
    assert (helper["path"], helper["line"]) == (path, demo.line(path, "Tensor cumsum_backward(const Tensor& grad, int64_t dim)"))


def test_formulas_have_their_line(demo):
    assert demo.ops["aten::mul.Tensor"]["autograd"]["formula"] == {"path": DERIVATIVES, "line": demo.line(DERIVATIVES, "- name: mul.Tensor")}
    assert demo.ops["aten::mul_.Tensor"]["declared"] == {"path": LIST, "line": demo.line(LIST, "- func: mul_.Tensor")}
