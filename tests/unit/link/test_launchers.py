# SPDX-License-Identifier: BSD-3-Clause
"""What is handed to launchers, and what runs it: functors of the file, functions, blocks of Objective-C, launchers inside launchers."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator, steps

LOOPS = "namespace at::native {\ntemplate <typename f_t> void cpu_kernel(TensorIteratorBase& iter, f_t&& f) { iter.for_each([&](char** d, int64_t n) { f(d); }); }\n}\n"


def cpu(body, **more):
    files = {N + "cpu/Loops.h": LOOPS, N + "cpu/F.cpp": f"namespace at::native {{\n{body}}}\n", **more}
    return steps(files, operator("f(Tensor self) -> Tensor", "CPU", "at::native::f_cpu"), key="CPU")


def test_a_functor_that_is_a_variable_of_the_file():
    body = ("struct Add {\n  void operator()(float* a) const { *a += 1; }\n};\nstatic Add add;\n"
            "struct base_kernel {\n  void operator()(const Tensor& self, const Add& f) {\n    at::parallel_for(0, 8, 1, [&](int64_t b, int64_t e) {\n      f(b);\n    });\n  }\n};\n"
            "void f_cpu(const Tensor& self) {\n  base_kernel()(self, add);\n}\n")
    assert cpu(body) == [("entry", "f_cpu", 13), ("device", "Add", 2), ("kernel", "operator()", 7), ("device", "lambda", 8)]
    assert ("device", "Add", 2) not in cpu(body.replace("static Add add;", "static int add;"))


def test_functions_are_handed_over_by_name():
    gelu = {N + "cpu/Gelu.h": "namespace at::native {\ntemplate <typename T> T scalar_gelu(T x) { return x; }\n}\n"}
    found = cpu("void f_cpu(const Tensor& self) {\n  cpu_kernel(iter, scalar_gelu<float>);\n}\n", **gelu)
    assert ("device", "scalar_gelu", 2) in found


def test_a_copy_of_memory_is_work():
    body = "static void copy(const Tensor& out, TensorList all) {\n  for (const auto& t : all) {\n    std::memcpy(out.data_ptr(), t.const_data_ptr(), t.nbytes());\n  }\n}\nvoid f_cpu(const Tensor& self) {\n  copy(self, list);\n}\n"
    assert cpu(body) == [("entry", "f_cpu", 7), ("device", "copy", 2)]


def test_a_kernel_launched_on_both_sides_stands_under_neither():
    files = {N + "cuda/F.cu": """namespace at::native {
template <typename i_t, typename f_t> __global__ void with_index(i_t n, f_t f) {}
template <typename f_t> void launch(const Tensor& out, f_t f) {
  if (n <= 5) {
    with_index<int><<<8, 64>>>(n, f);
  } else {
    with_index<int64_t><<<8, 64>>>(n, f);
  }
}
void f_cuda(const Tensor& self) {
  launch(self, [] GPU_LAMBDA(int i) { return i; });
}
}
"""}
    f = operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_cuda")
    maker, _ = made(files, f)
    assert [(s.symbol.rpartition("::")[2], s.branch) for s in maker.chain(f, "CUDA").steps if s.role == "device"] == [("lambda", ""), ("with_index", "")]


def test_the_function_that_runs_a_graphs_block_is_a_step():
    runner = "static void unary_op(const Tensor& self, UnaryOpBlock block) {\n  runMPSGraph(stream, graph, block);\n}\n"
    direct = "void f_mps(const Tensor& self) {\n  unary_op(self, ^MPSGraphTensor*(MPSGraph* mpsGraph, MPSGraphTensor* x) {\n    return [mpsGraph sinWithTensor:x name:nil];\n  });\n}\n"
    held = "void f_mps(const Tensor& self) {\n  UnaryOpBlock work = ^MPSGraphTensor*(MPSGraph* mpsGraph, MPSGraphTensor* x) {\n    return [mpsGraph sinWithTensor:x name:nil];\n  };\n  unary_op(self, work);\n}\n"
    for body in (direct, held):
        files = {N + "mps/operations/F.mm": f"namespace at::native {{\n{runner}{body}}}\n"}
        found = steps(files, operator("f(Tensor self) -> Tensor", "MPS", "at::native::f_mps"), key="MPS")
        assert found == [("entry", "f_mps", 5), ("kernel", "unary_op", 2), ("library", "sinWithTensor", 7)]


def test_vector_functions_of_mkl():
    vml = {"aten/src/ATen/cpu/vml.h": "namespace at::vml {\ninline void vsin(int64_t n, float* out, const float* in) {\n  vmsSin(n, in, out, VML_HA);\n}\n}\n"}
    found = cpu("void f_cpu(const Tensor& self) {\n  vml::vsin(n, out, in);\n}\n", **vml)
    assert found == [("entry", "f_cpu", 2), ("kernel", "vsin", 2), ("library", "vmsSin", 3)]
