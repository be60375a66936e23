# SPDX-License-Identifier: BSD-3-Clause
"""What the end of a way looks like where no launch, stub or plain library call stands: objects, pointers, macros, switches."""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, operator, steps


def found(path, body, key, *others, files=None):
    """The steps of `f_entry` in a file of at::native."""
    device = {"CUDA": "CUDA", "MPS": "MPS"}.get(key, "CPU")
    f = operator("f(Tensor self) -> Tensor", device, "at::native::f_entry")
    return steps({N + path: f"namespace at::native {{\n{body}}}\n", **(files or {})}, f, *others, key=key)


def test_a_function_behind_a_variable():
    body = ("template <typename T> void lapackA(int n);\ntemplate <> void lapackA<float>(int n) {\n  ssytrf_(n);\n}\n"
        "void f_entry(const Tensor& self) {\n  auto func = hermitian ? lapackB<float> : lapackA<float>;\n  func(1);\n}\n")
    assert found("F.cpp", body, "CPU") == [("entry", "f_entry", 6), ("kernel", "lapackA<float>", 3), ("library", "ssytrf_", 4)]


def test_objects_of_cutlass_and_functions_of_the_driver():
    body = "void f_entry(const Tensor& self) {\n  using Gemm = cutlass::gemm::device::GemmUniversal<float>;\n  Gemm gemm_op;\n  gemm_op.run(stream);\n}\n"
    assert found("cuda/F.cu", body, "CUDA")[1:] == [("library", "gemm_op.run", 5)]
    assert found("cuda/F.cu", "void f_entry(const Tensor& self) { api->cuMemsetD32Async_(p); }\n", "CUDA")[1:] == [("library", "cuMemsetD32Async_", 2)]
    assert found("cuda/F.cu", "void f_entry(const Tensor& self) { plan.cuFFTClear(p); }\n", "CUDA")[1:] == []


def test_libraries_whose_code_another_repository_has():
    body = ("namespace FLASH {\nvoid run_mha_bwd(Params& p) {\n  SWITCH(p.d, [&] {\n    run_mha_bwd_<elem_type, kHeadDim>(p);\n  });\n}\n}\n"
            "void f_entry(const Tensor& self) {\n  if (padded) {\n    at::sum_out(self);\n  }\n  FLASH::run_mha_bwd(params);\n}\n")  # fmt: skip
    assert found("cuda/F.cu", body, "CUDA")[1:] == [("kernel", "run_mha_bwd", 3), ("library", "run_mha_bwd_", 5)]
    assert found("cuda/F.cu", "void f_entry(const Tensor& self) {\n  mslk::gemm::f4f4bf16(self);\n}\n", "CUDA")[1:] == [("library", "f4f4bf16", 3)]
    body = ("void plain(const Tensor& a) {\n  inner(a);\n}\nvoid inner(const Tensor& a) {\n  cublasLtMatmul(a);\n}\nvoid tiny(const Tensor& a) {\n  mslk::gemm::f4f4bf16(a);\n}\nvoid f_entry(const Tensor& self) {\n"
            "  if (impl == Impl::PLAIN) {\n    plain(self);\n  } else if (impl == Impl::MXFP4) {\n    tiny(self);\n  }\n}\n")  # fmt: skip
    assert [s[1] for s in found("cuda/F.cu", body, "CUDA")[1:]] == ["plain", "inner", "cublasLtMatmul", "f4f4bf16"]


def test_a_kernel_of_metal_that_a_composite_asks_for_itself():
    files = {N + "mps/kernels/F.metal": "kernel void norm_float(device float* p [[buffer(0)]]) {\n}\n",
             N + "mps/operations/F.mm": 'namespace at::native {\nTensor f_mps(const Tensor& x) {\n  lib.getPipelineStateForFunc("norm_float");\n}\n}\n'}  # fmt: skip
    f = operator("f(Tensor self) -> Tensor", "CompositeImplicitAutograd", "at::native::f_entry", outcome="math kernel")
    f = replace(f, dispatch={"MPS": "math kernel", "CUDA": "math kernel"})
    files[N + "F.cpp"] = "namespace at::native {\nTensor f_entry(const Tensor& self) {\n  if (self.is_mps()) {\n    return f_mps(self);\n  }\n  return self.mul(self);\n}\n}\n"
    mul = operator("mul.Tensor(Tensor self, Tensor other) -> Tensor")
    assert ("device", "norm_float", 1) in steps(files, f, mul, key="MPS")
    assert all(role != "device" for role, _, _ in steps(files, f, mul, key="CUDA"))


def test_nodes_that_only_shape_are_the_work_when_there_are_no_others():
    node = "  [mpsGraph concatTensors:a dimension:0 name:nil];\n"
    assert found("mps/operations/F.mm", f"void f_entry(const Tensor& self) {{\n{node}}}\n", "MPS")[1:] == [("library", "concatTensors", 3)]
    body = f"void f_entry(const Tensor& self) {{\n{node}  [mpsGraph sinWithTensor:a name:nil];\n  [mpsGraph placeholderWithShape:s];\n}}\n"
    assert found("mps/operations/F.mm", body, "MPS")[1:] == [("library", "sinWithTensor", 4)]
    body = "void f_entry(const Tensor& self) {\n  auto s = [[MPSMatrixSolveLU alloc] initWithDevice:d];\n  auto m = [[MPSMatrixDescriptor alloc] init];\n}\n"
    assert found("mps/operations/F.mm", body, "MPS")[1:] == [("library", "MPSMatrixSolveLU", 3)]


def test_an_operator_that_a_macros_function_hands_over():
    body = "#define MAKE(op) \\\n  Tensor& op##_entry(const Tensor& self) { return apply(&at::op##_outf, self, &Tensor::op##_); }\nMAKE(f)\n"
    others = [operator("f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"), operator("f_(Tensor(a!) self) -> Tensor(a!)")]
    assert found("F.cpp", body, "CPU", *others) == [("entry", "f_entry", 4), ("calls", "f_outf", 4), ("calls", "f_", 4)]


def test_a_stub_of_quite_another_name_is_a_step_beside_the_work():
    body = ("void lu_solve(const Tensor& t) {\n  cusolverDnSgetrs(t);\n}\nDEFINE_DISPATCH(unpack_pivots_stub);\n"
        "void lu_solve_kernel(const Tensor& self) {\n  unpack_pivots_stub(device, self);\n  lu_solve(self);\n}\nvoid k() {}\n"
        "REGISTER_DISPATCH(unpack_pivots_stub, &k)\nvoid f_entry(const Tensor& self) { lu_solve_kernel(self); }\n")
    solve = operator("lu_solve(Tensor self) -> Tensor", "CUDA", "at::native::lu_solve_kernel")
    assert steps({N + "cuda/F.cu": f"namespace at::native {{\n{body}}}\n"}, solve)[1:3] == [("kernel", "lu_solve", 2), ("library", "cusolverDnSgetrs", 3)]


def test_what_a_switch_over_types_calls_and_loops_in_local_macros():
    body = ("template <typename T> static void frame(T* p) { *p = 1; }\nvoid f_entry(const Tensor& self) {\n"
        '  AT_DISPATCH_ALL_TYPES(t, "f", [&] {\n    frame<scalar_t>(p);\n  });\n}\n')
    assert found("F.cpp", body, "CPU") == [("entry", "f_entry", 3), ("kernel", "frame", 2)]
    body = "void f_entry(const Tensor& self) {\n#define HANDLE_CASE(x)  \\\n  case x:  \\\n    parallel_for(0, 1, 1, [&](int64_t a) {  \\\n      g(a); });\n  HANDLE_CASE(1)\n}\n"
    assert found("cpu/F.cpp", body, "CPU") == [("entry", "f_entry", 2), ("device", "lambda", 5)]


def test_a_stub_that_only_generated_code_registers_leads_to_the_inner_loop():
    files = {"torchgen/dest/ufunc.py": "def compute_ufunc_cuda(g):\n    pass\n", N + "ufunc/add.h": "namespace at::native::ufunc {\nT add(T a, T b) { return a + b; }\n}\n"}
    body = "DECLARE_DISPATCH(fn, add_stub)\nvoid f_entry(const Tensor& self) { add_stub(device_type(), self, -1); }\n"
    assert found("F.cpp", body, "CUDA", files=files)[1:] == [("stub", "add_stub", 2), ("kernel", "add_kernel", 1), ("device", "add", 2)]


def test_an_operator_of_miopen_raises_in_a_cuda_build_and_works_in_one_for_rocm():
    body = ("#if !AT_ROCM_ENABLED()\nvoid f_entry(const Tensor& self) { TORCH_CHECK(false, 1); }\n#else\n"
            "void f_entry(const Tensor& self) {\n  miopenConvolutionForward(h);\n}\n#endif\n")
    assert found("miopen/F.cpp", body, "CUDA") == [("entry", "f_entry", 3), ("entry", "f_entry", 5), ("library", "miopenConvolutionForward", 6)]
    working = body.replace("TORCH_CHECK(false, 1)", "cudnnForward(h)")
    assert found("miopen/F.cpp", working, "CUDA") == [("entry", "f_entry", 3), ("library", "cudnnForward", 3)]


def test_an_operator_under_a_cast_that_picks_its_overload():
    body = "void f_entry(const Tensor& self) {\n  compare(self, static_cast<OutFunc>(at::eq_out));\n}\n"
    assert found("F.cpp", body, "CPU", operator("eq.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"))[1:] == [("calls", "eq_out", 3)]


def test_device_code_as_text_belongs_to_its_own_function():
    kernel = 'constexpr char code[] = "";\nconst auto func = jiterator_stringify(template <typename T> T one(T a) { return a; });\n'
    files = {N + "cuda/Sum.cu": f"namespace at::native {{\nvoid sum_cuda(const Tensor& self) {{\n{kernel}  jitted_gpu_kernel<name>(iter, func);\n}}\n}}\n",
             N + "cuda/F.cu": "namespace at::native {\nvoid f_cuda(const Tensor& self) {\n  auto func = pick(self);\n  cudaFuncGetAttributes(&attributes, func);\n}\n}\n"}
    sums = steps(files, operator("sum(Tensor self) -> Tensor", "CUDA", "at::native::sum_cuda"))
    assert sums == [("entry", "sum_cuda", 2), ("device", "func", 4)]
    assert steps(files, operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_cuda")) == [("entry", "f_cuda", 2)]


def test_a_function_of_a_library_that_some_builds_wrap_is_the_librarys():
    body = "#if AT_BLAS_USE_CBLAS_DOT()\nstatic float sdot_(int n, float* x) { return cblas_sdot(n, x); }\n#endif\nvoid f_entry(const Tensor& self) {\n  sdot_(1, p);\n}\n"
    assert found("F.cpp", body, "CPU")[1:] == [("library", "sdot_", 6)]
    assert found("F.cpp", body.replace("#if AT_BLAS_USE_CBLAS_DOT()", "").replace("#endif", ""), "CPU")[1:] == [("kernel", "sdot_", 3), ("library", "cblas_sdot", 3)]


def test_where_checking_is_the_work_a_check_is_no_detour():
    body = ("__global__ void bookkeeping(int* p) {}\n__global__ void work(int* p) {}\nvoid other(const Tensor& t) { bookkeeping<<<8, 8>>>(p); }\n"
        "void {0}check_part(const Tensor& t) {{ work<<<8, 8>>>(p); }}\nvoid f_{1}entry(const Tensor& self) {{ {0}check_part(self); other(self); }}\n")  # fmt: skip
    for entry, first in (("check_", "work"), ("", "bookkeeping")):
        f = operator("f(Tensor self) -> Tensor", "CUDA", f"at::native::f_{entry}entry")
        text = body.replace("{0}", "").replace("{1}", entry).replace("{{", "{").replace("}}", "}")
        ends = steps({N + "cuda/F.cu": f"namespace at::native {{\n{text}}}\n"}, f)
        assert next(s for role, s, _ in ends if role == "device") == first


def test_an_object_is_of_the_class_that_the_function_that_makes_it_names():
    files = {"aten/src/ATen/quantized/Quantizer.h": "namespace at {\nstruct A : public Base {\n  Tensor quantize(Tensor t) { fbgemm::QuantizeA(t); }\n};\n"
             "struct B : public Base {\n  Tensor quantize(Tensor t) { fbgemm::QuantizeB(t); }\n};\nBasePtr make_b(double scale) { return c10::make_intrusive<B>(scale); }\n}\n"}
    body = "#include <ATen/quantized/Quantizer.h>\nvoid f_entry(const Tensor& self) {\n  auto quantizer = make_b(1.0);\n  quantizer->quantize(self);\n}\n"
    assert [s for role, s, _ in found("quantized/F.cpp", body, "CPU", files=files) if role == "library"] == ["QuantizeB"]


def test_an_object_is_of_one_of_the_classes_that_its_maker_chooses_from():
    classes = "".join(f"struct {c} : public Base {{\n  Tensor quantize(Tensor t) {{ fbgemm::Quantize{c}(t); }}\n}};\n" for c in "ABC")
    maker = "BasePtr make(Tensor points) {\n  if (points.is_floating_point()) {\n    return c10::make_intrusive<B>(points);\n  }\n  return c10::make_intrusive<C>(points);\n}\n"
    files = {"aten/src/ATen/quantized/Quantizer.h": f"namespace at {{\n{classes}{maker}}}\n"}
    body = "#include <ATen/quantized/Quantizer.h>\nvoid f_entry(const Tensor& self) {\n  auto quantizer = make(points);\n  quantizer->quantize(self);\n}\n"
    assert [s for role, s, _ in found("quantized/F.cpp", body, "CPU", files=files) if role == "library"] == ["QuantizeB", "QuantizeC"]


def test_blits_of_a_stream_and_graphs_that_a_constructor_builds():
    assert found("mps/operations/F.mm", "void f_entry(const Tensor& self) {\n  stream->copy(a, b, 8);\n}\n", "MPS")[1:] == [("library", "stream->copy", 3)]
    assert found("mps/operations/F.mm", "void f_entry(const Tensor& self) {\n  other->copy(a, b, 8);\n}\n", "MPS")[1:] == []
    body = ("struct RangeGraph : public MPSCachedGraph {\n  RangeGraph(MPSGraph* mpsGraph) : MPSCachedGraph(mpsGraph) {\n    auto t = [mpsGraph additionWithPrimaryTensor:a name:nil];\n"
        "  }\n};\nvoid f_entry(const Tensor& self) {\n  auto graph = new RangeGraph(mpsGraph);\n}\n")  # fmt: skip
    assert found("mps/operations/F.mm", body, "MPS")[1:] == [("kernel", "RangeGraph", 3), ("library", "additionWithPrimaryTensor", 4)]


def test_what_the_tree_chooses_for_a_build_comes_before_what_it_has_for_others():
    header = "#if defined(CUSOLVER_VERSION) || defined(USE_ROCM)\n#define USE_SOLVER\n#endif\n"
    body = ("void by_old(const Tensor& t) {\n  magma_sgeqrf2_gpu(p);\n}\nvoid by_new(const Tensor& t) {\n  by_newer(t);\n}\nvoid by_newer(const Tensor& t) {\n  cusolverDnSgeqrf(p);\n}\n"
        "void f_entry(const Tensor& self) {\n#if defined(USE_SOLVER)\n  by_new(self);\n#else\n  by_old(self);\n#endif\n}\n")  # fmt: skip
    for text, first in ((header, "cusolverDnSgeqrf"), (header.replace("CUSOLVER", "OTHER"), "magma_sgeqrf2_gpu")):
        libraries = [s for role, s, _ in found("cuda/F.cpp", body, "CUDA", files={N + "cuda/Solver.h": text}) if role == "library"]
        assert libraries[0] == first
        assert len(libraries) == 2


def test_what_is_put_on_the_stream_before_the_main_kernel_stands_before_it():
    body = ("__global__ void f_kernel(int p) {\n}\nvoid f_prepared(int* p) {\n  cub::DeviceRadixSort::SortKeys(p);\n}\nvoid f_go(int n) {\n  f_kernel<<<1, 2, 0, s>>>(n);\n}\n"
            "Tensor f_cuda(const Tensor& self) {\n  if (n > 0) {\n    FIRST;\n    SECOND;\n  }\n}\n")
    f = operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_cuda")
    for first, second in (("f_prepared(p)", "f_go(n)"), ("f_go(n)", "f_prepared(p)")):
        files = {N + "cuda/F.cu": f"namespace at::native {{\n{body.replace('FIRST', first).replace('SECOND', second)}}}\n"}
        wanted = ["SortKeys", "f_kernel"]
        assert [s for role, s, _ in steps(files, f) if role in ("library", "device")] == (wanted if first == "f_prepared(p)" else wanted[::-1])
