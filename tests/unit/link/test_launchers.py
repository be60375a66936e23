# SPDX-License-Identifier: BSD-3-Clause
"""What is handed to launchers, and what runs it: functors of the file, functions, blocks of Objective-C, launchers inside launchers."""

import sys
from pathlib import Path

import pytest

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


def test_a_kernel_launched_in_each_case_of_a_switch_leaves_room_for_others():
    cases = "".join(f"      case {n}: by_registers<{n}><<<8, 64>>>(n); break;\n" for n in range(16))
    files = {N + "cuda/F.cu": f"""namespace at::native {{
template <int count> __global__ void by_registers(int n) {{}}
template <typename T> __global__ void spatial(int n) {{}}
void f_cuda(const Tensor& self) {{
  if (inner_size == 1) {{
    switch (count) {{
{cases}    }}
  }} else if (!widened) {{
    spatial<T><<<8, 64>>>(n);
  }} else {{
    spatial<A><<<8, 64>>>(n);
  }}
}}
}}
"""}
    f = operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_cuda")
    maker, _ = made(files, f)
    assert {s.symbol.rpartition("::")[2]: s.branch for s in maker.chain(f, "CUDA").steps}["spatial"] == "!(inner_size == 1)"


def test_what_runs_for_rare_types_too_is_shown_under_their_conditions_as_well():
    body = ("template <typename T> void work(const Tensor& self) {\n  at::parallel_for(0, 8, 1, [&](int64_t b, int64_t e) {\n    go(b);\n  });\n}\n"
            "void f_cpu(const Tensor& self) {\n  if (self.dtype() == kHalf) {\n    work<Half>(self);\n  } else if (self.dtype() == kBFloat16) {\n    work<BFloat16>(self);\n"
            "  } else {\n    work<float>(self);\n  }\n}\n")
    f = operator("f(Tensor self) -> Tensor", "CPU", "at::native::f_cpu")
    for text, branch in ((body, ""), (body.replace("} else {", "} else if (self.dtype() == kFloat) {"), "self.dtype() == kFloat || self.dtype() == kHalf || self.dtype() == kBFloat16")):
        maker, _ = made({N + "cpu/F.cpp": f"namespace at::native {{\n{text}}}\n"}, f)
        assert [s.branch for s in maker.chain(f, "CPU").steps if s.role == "device"] == [branch]


def test_a_header_in_the_middle_of_a_source_means_what_stands_before_it():
    kernel = "template <typename f_t> __global__ void {0}(int n, f_t f) {{}}\n{1} launch(int n, const f_t& f) {{\n  {0}<f_t><<<8, 64>>>(n, f);\n}}\n"
    own, other = kernel.format("own_kernel", "template <typename f_t> static void"), kernel.format("other_kernel", "template <typename f_t> void")
    middle = "template <typename f_t>\nvoid by_index(int n, const f_t& f) {\n  launch(n, [=] GPU_LAMBDA (int i) { f(i); });\n}\n"
    f = "void f_cuda(const Tensor& self) {\n  by_index(8, [] GPU_LAMBDA (int i) {});\n}\n"
    files = {N + "cuda/more/Other.cuh": f"namespace at::native {{\n{other}}}\n", N + "cuda/more/Middle.cuh": middle}

    def launched(include, before=own):
        source = f"{include}namespace at::native {{\n{before}#include <ATen/native/cuda/more/Middle.cuh>\n{f}}}\n"
        return {symbol for _, symbol, _ in steps({**files, N + "cuda/F.cu": source}, operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_cuda"))}

    assert "own_kernel" in (found := launched(""))
    assert "other_kernel" not in found
    assert "own_kernel" in launched("", before=own.replace("static ", ""))
    assert "other_kernel" in launched("#include <ATen/native/cuda/more/Other.cuh>\n", before="")
    files[N + "cuda/more/Middle.cuh"] = "#include <ATen/native/cuda/more/Other.cuh>\n" + middle
    assert "other_kernel" in (found := launched(""))
    assert "own_kernel" not in found


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


def test_overloads_of_a_template_that_exist_for_half_types_only():
    half = "template <typename T, typename std::enable_if_t<is_reduced_floating_point_v<T>, int> = 0>\nvoid frame(T* x) {\n  at::parallel_for(0, 8, 1, [&](int64_t b, int64_t e) { f(b); });\n}\n"
    plain = half.replace("is_reduced_floating_point_v<T>", "!is_reduced_floating_point_v<T>")
    returned = "template <typename T>\nstd::enable_if_t<std::is_same_v<T, at::Half> || std::is_same_v<T, at::BFloat16>, void>\nframe(T* x) {\n  at::parallel_for(0, 8, 1, [&](int64_t b, int64_t e) { f(b); });\n}\n"
    entry = "void f_cpu(const Tensor& self) {\n  frame<float>(x);\n}\n"
    for body, line in ((half + plain + entry, 7), (plain + half + entry, 3), (returned + plain + entry, 8)):
        assert [found for role, name, found in cpu(body) if name == "frame"] == [line]
    assert [found for role, name, found in cpu(half + entry) if name == "frame"] == [3]  # nothing else is there


def test_functions_of_the_global_namespace_are_no_operators():
    ceil = operator("ceil(Tensor self) -> Tensor", "CPU", "at::native::ceil_cpu")
    files = {N + "F.cpp": "namespace at::native {\nTensor ceil_cpu(const Tensor& self) {\n  at::parallel_for(0, 8, 1, [&](int64_t b, int64_t e) { f(b); });\n}\nTensor f_cpu(const Tensor& self) {\n  int n = (int) ::ceil(x);\n}\n}\n"}
    f = operator("f(Tensor self) -> Tensor", "CPU", "at::native::f_cpu")
    assert steps(files, f, ceil, key="CPU") == [("entry", "f_cpu", 5)]
    files = {path: text.replace("(int) ::ceil(x)", "ceil(self)") for path, text in files.items()}
    assert ("calls", "ceil", 6) in steps(files, f, ceil, key="CPU")


def test_one_call_on_both_sides_of_an_if_has_no_condition_whatever_the_types():
    body = "static void work(const Tensor& x) {\n  at::parallel_for(0, 8, 1, [&](int64_t b, int64_t e) { f(b); });\n}\nvoid f_cpu(const Tensor& self) {\n  if (self.scalar_type() == kLong) {\n    work(self);\n  } else {\n    work(self);\n  }\n}\n"
    f = operator("f(Tensor self) -> Tensor", "CPU", "at::native::f_cpu")
    maker, _ = made({N + "cpu/F.cpp": f"namespace at::native {{\n{body}}}\n"}, f)
    assert [s.branch for s in maker.chain(f, "CPU").steps if s.role == "device"] == [""]


def test_a_launch_of_one_thread_is_shown_beside_the_work():
    files = {N + "cuda/F.cu": "namespace at::native {\ntemplate <typename T> __global__ void work(T* p) {}\ntemplate <typename T> __global__ void average(T* p) {}\n"
             "void f_cuda(const Tensor& self) {\n  work<float><<<8, 64>>>(p);\n  average<float><<<1, 1, 0, stream>>>(p);\n}\n}\n"}
    assert [s for _, s, _ in steps(files, operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_cuda"))] == ["f_cuda", "work", "average"]


def test_a_lambda_that_begins_where_one_ends():
    loops = "template <typename f_t, typename v_t> void cpu_kernel_vec(TensorIteratorBase& iter, f_t&& f, v_t&& v) { iter.for_each([&](char** d, int64_t n) { f(d); }); }\n"
    body = loops + "void f_cpu(const Tensor& self) {\n  cpu_kernel_vec(iter, [=](float a) -> float {\n    return a;\n  }, [=](vec_t a) {\n    return a;\n  });\n}\n"
    assert [line for _, symbol, line in cpu(body) if symbol == "lambda"][:2] == [4, 6]


def test_of_kernels_that_a_callback_gets_those_for_float_and_the_newest_gpus_come_first():
    names = ("run_f16_sm80", "run_f32_sm50", "run_bf16_sm90", "run_f32_sm80")
    body = ("".join(f"__global__ void {name}(float* p) {{ p[threadIdx.x] = 0; }}\n" for name in names) + "namespace at::native {\n"
        "template <typename T> void dispatch_run(T cb) {\n" + "".join(f"  cb(Kernel(), {name});\n" for name in names) + "}\n"
        "void f_cuda(const Tensor& self) {\n  auto launch = [&](auto _k, auto kernel_fn) {\n    kernel_fn<<<8, 8>>>(p);\n  };\n  dispatch_run(launch);\n}\n}\n")  # fmt: skip
    found = steps({N + "cuda/F.cu": body}, operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_cuda"))
    assert [s for role, s, _ in found if role == "device"] == ["run_f32_sm80", "run_f32_sm50"]


def test_a_launcher_may_hand_on_what_it_is_handed_to_a_library():
    body = ("struct Sum {\n  __device__ float operator()(float a, float b) const { return a + b; }\n};\n__global__ void last(float* a) {\n}\n"
            "template <typename op_t> void scan(float* in, op_t op, int64_t n) {\n  cub::DeviceScan::ExclusiveScan(in, op, n);\n  last<<<1, 64>>>(in);\n}\n"
            "void f_cuda(const Tensor& self) {\n  scan(data, Sum{}, 8);\n}\n")  # fmt: skip
    found = steps({N + "cuda/F.cu": f"namespace at::native {{\n{body}}}\n"}, operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_cuda"))
    assert [s for role, s, _ in found if role in ("device", "library")] == ["Sum", "last", "ExclusiveScan"]


@pytest.mark.parametrize(("trait", "double"), [
    ("std::is_same_v<T, at::opmath_type<T>>", False), ("std::is_same_v<T, float> || std::is_same_v<T, double>", True), ("std::is_floating_point_v<T>", False), ("!c10::is_complex<T>::value", False),
])
def test_overloads_of_a_template_that_exist_for_float(trait, double):
    """Whatever stands first, and though a parameter that is no element be a double."""
    head = "template <typename T>\nstd::enable_if_t<{}, void>\nframe(T* x{}) {{\n  at::parallel_for(0, 8, 1, [&](int64_t b, int64_t e) {{ f(b); }});\n}}\n"
    more, given = (", const double rate", ", 0.1") if double else ("", "")
    ours, theirs = head.format(trait, more), head.format(f"!({trait})", more)
    entry = f"void f_cpu(const Tensor& self) {{\n  frame<float>(x{given});\n}}\n"
    for body, line in ((ours + theirs + entry, 4), (theirs + ours + entry, 9)):
        assert [found for role, name, found in cpu(body) if name == "frame"] == [line]
    unknown = head.format("fits<T>()", more) + head.format("!fits<T>()", more) + entry
    assert [found for role, name, found in cpu(unknown) if role == "device"] == [5, 10]
