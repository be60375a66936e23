# SPDX-License-Identifier: BSD-3-Clause
"""What is shown beside the main way."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator, steps

from cartographer.model.operator import Step
from cartographer.query.where import main_step

STUB = "DEFINE_DISPATCH(f_stub);\nvoid f_kernel(const Tensor& t) {}\nREGISTER_DISPATCH(f_stub, &f_kernel)\n"
LOOP = "void all_of_it(const Tensor& t) {\n  at::parallel_for(0, 8, 1, [&](int64_t a, int64_t b) {\n    g(a);\n  });\n}\n"


def found(body, key="CPU"):
    f = operator("f(Tensor self) -> Tensor", key, "at::native::f_entry")
    return steps({N + "cpu/F.cpp": f"namespace at::native {{\n{STUB}{LOOP}{body}}}\n"}, f, key=key)


def test_a_loop_that_runs_instead_of_a_stub_stands_beside_it_and_one_that_runs_before_does_not():
    body = "void f_entry(const Tensor& self) {\n  if (n == 1) {\n    all_of_it(self);\n    return;\n  }\n  f_stub(kCPU, self);\n}\n"
    assert found(body)[1:] == [("stub", "f_stub", 2), ("registration", "f_stub", 4), ("kernel", "f_kernel", 3), ("device", "lambda", 6)]
    body = "void f_entry(const Tensor& self) {\n  all_of_it(self);\n  f_stub(kCPU, self);\n}\n"
    assert found(body)[1:] == [("stub", "f_stub", 2), ("registration", "f_stub", 4), ("kernel", "f_kernel", 3)]


def test_a_library_stands_before_a_loop_beside_a_stub():
    body = "void f_entry(const Tensor& self) {\n  if (n == 1) { all_of_it(self); }\n  else if (n == 2) { sgemm_(self); }\n  else { f_stub(kCPU, self); }\n}\n"
    assert [s for role, s, _ in found(body) if role in ("library", "device")] == ["sgemm_", "lambda"]


def test_of_overloads_for_one_type_each_only_the_first_is_followed_and_of_templates_all():
    body = "void axpy(int n, double* x) {\n  daxpy_(x);\n}\nvoid axpy(int n, float* x) {\n  saxpy_(x);\n}\nvoid f_entry(const Tensor& self) { axpy(1, p); }\n"
    assert [s for role, s, _ in found(body) if role == "library"] == ["saxpy_"]
    body = body.replace("void axpy", "template <typename T> void axpy")
    assert [s for role, s, _ in found(body) if role == "library"] == ["saxpy_", "daxpy_"]


def test_a_way_kept_for_an_older_library_is_never_first():
    body = ("void convolve_out_v7(const Tensor& t) { cudnnConvolveForward(t); }\nvoid run_plan(const Tensor& t) { cudnnBackendExecute(t); }\n"
        "void try_plans(const Tensor& t) { run_plan(t); }\nvoid run(const Tensor& t) { try_plans(t); }\n"
        "void convolve_out(const Tensor& t) {\n  if (n == 8) {\n    run(t);\n  } else {\n    convolve_out_v7(t);\n  }\n}\n"
        "void f_entry(const Tensor& self) { convolve_out(self); }\n")  # fmt: skip
    f = operator("convolve(Tensor self) -> Tensor", "CUDA", "at::native::f_entry")
    ends = steps({N + "cuda/F.cu": f"namespace at::native {{\n{body}}}\n"}, f)
    assert [s for role, s, _ in ends if role == "library"] == ["cudnnBackendExecute", "cudnnConvolveForward"]


def test_a_library_that_may_be_used_comes_before_the_stub_that_serves_where_it_may_not():
    more = "void f_kernel(const Tensor& t) {\n  at::parallel_for(0, 8, 1, [&](int64_t a, int64_t b) {\n    g(a);\n  });\n}\n"
    stub = STUB.replace("void f_kernel(const Tensor& t) {}\n", more)
    f = operator("f(Tensor self) -> Tensor", "CPU", "at::native::f_entry")
    for question, ends in (("use_blas_gemm(self)", ["sgemm_", "f_stub", "f_kernel", "lambda"]), ("self.dtype() == kHalf", ["f_stub", "f_kernel", "lambda", "sgemm_"])):
        body = f"void f_entry(const Tensor& self) {{\n  if ({question}) {{\n    sgemm_(self);\n    return;\n  }}\n  f_stub(kCPU, self);\n}}\n"
        found = steps({N + "cpu/F.cpp": f"namespace at::native {{\n{stub}{body}}}\n"}, f, key="CPU")
        assert [s for role, s, _ in found if role not in ("entry", "registration")] == ends


def test_the_place_to_open_is_on_the_main_way():
    entry, helper, library = Step("entry", "f", "F.cpp", 1), Step("kernel", "gemm", "F.cpp", 2), Step("library", "sgemm_", "F.cpp", 3)
    stub = (Step("stub", "s", "F.cpp", 3), Step("registration", "s", "S.cpp", 4), Step("kernel", "k", "S.cpp", 5))
    assert main_step((entry, helper, library, *stub)) == helper
    assert main_step((entry, helper, *stub, library)) == stub[-1]


def test_two_calls_of_one_function_of_a_library_are_one_end_and_two_nodes_of_a_graph_are_two():
    body = "void f_entry(const Tensor& self) {\n  if (n == 1) {\n    fbgemm::fbgemmConv(self);\n  } else {\n    fbgemm::fbgemmConv(self);\n  }\n  qnnpack::qnnpackConv(self);\n}\n"
    assert [s for role, s, _ in found(body) if role == "library"] == ["fbgemmConv", "qnnpackConv"]
    body = "void f_entry(const Tensor& self) {\n  if (a == b) {\n    [mpsGraph sinWithTensor:a name:nil];\n  } else {\n    [mpsGraph sinWithTensor:a name:nil];\n  }\n}\n"
    f = operator("f(Tensor self) -> Tensor", "MPS", "at::native::f_entry")
    maker, _ = made({N + "mps/operations/F.mm": f"namespace at::native {{\n{body}}}\n"}, f)
    assert [(s.line, s.branch) for s in maker.chain(f, "MPS").steps if s.role == "library"] == [(6, "!(a == b)"), (4, "a == b")]


def test_of_the_ends_the_first_one_without_a_condition_is_the_place_to_open():
    entry, graph, metal = Step("entry", "f", "F.mm", 1), Step("library", "node", "F.mm", 2), Step("device", "kernel", "F.metal", 3, "", "self.is_complex()")
    assert main_step((entry, graph, metal)) == graph
    assert main_step((entry, metal, graph)) == graph


def test_on_a_road_by_which_the_body_is_left_what_only_some_need_is_shown_while_there_is_room():
    work = "".join(f"void {x}(const Tensor& t) {{\n  f_stub(kCPU, t);\n}}\n" for x in "abcdeg")
    others = [operator(f"{x}(Tensor self) -> Tensor", "CPU", f"at::native::{x}") for x in "abcdeg"]

    def called(more=""):
        body = f"{work}void f_entry(const Tensor& self) {{\n  if (one) {{\n    if (mixed) {{ at::a(self); }}\n    at::b(self);\n{more}    return;\n  }}\n  f_stub(kCPU, self);\n}}\n"
        f = operator("f(Tensor self) -> Tensor", "CPU", "at::native::f_entry")
        return [name for role, name, _ in steps({N + "cpu/F.cpp": f"namespace at::native {{\n{STUB}{body}}}\n"}, f, *others, key="CPU") if role == "calls"]

    assert called() == ["a", "b"]
    assert called("    at::c(self);\n    at::d(self);\n    at::e(self);\n") == ["a", "b", "c", "d", "e"]
    assert called("    at::c(self);\n    at::d(self);\n    at::e(self);\n    at::g(self);\n") == ["b", "c", "d", "e", "g"]


def test_a_library_beside_another_may_lie_deeper_than_what_else_is_shown():
    def libraries(depth, first="sgemm_(self);"):
        inner = "".join(f"void deep_{n}(const Tensor& t) {{ {f'deep_{n - 1}(t);' if n else 'cblas_dgemm_batch(t);'} }}\n" for n in range(depth))
        body = f"{inner}void f_entry(const Tensor& self) {{\n  if (one) {{\n    {first}\n  }} else {{\n    deep_{depth - 1}(self);\n  }}\n}}\n"
        return [name for role, name, _ in found(body) if role == "library"]

    assert libraries(4) == ["sgemm_", "cblas_dgemm_batch"]
    assert libraries(5) == ["sgemm_"]
    assert libraries(4, "f_stub(kCPU, self);") == []


def test_beside_a_loop_stands_the_stub_that_a_function_calls_inside_it():
    def ends(inner):
        frame = f"void frame(const Tensor& t) {{\n  {inner}\n}}\n"
        body = f"{frame}void convolve_all(const Tensor& self) {{\n  at::parallel_for(0, 8, 1, [&](int64_t a, int64_t b) {{\n    frame(self);\n  }});\n}}\n"
        f = operator("convolve(Tensor self) -> Tensor", "CPU", "at::native::convolve_all")
        return [s for role, s, _ in steps({N + "F.cpp": f"namespace at::native {{\n{STUB}{body}}}\n"}, f, key="CPU") if role in ("stub", "library", "device")]

    assert ends("f_stub(kCPU, t);") == ["lambda", "f_stub"]
    assert ends("if (use_blas(t)) { sgemm_(t); return; }\n  f_stub(kCPU, t);") == ["lambda", "sgemm_"]  # no more than a substitute


def test_memory_that_is_copied_as_a_whole_stands_beside_what_copies_it_by_elements():
    body = "__global__ void by_element(float* a) {\n}\nvoid each(float* a) { by_element<<<8, 64>>>(a); }\nvoid f_entry(const Tensor& self) {\n  if (whole) {\n    cudaMemcpyAsync(a, b, n);\n  } else {\n    each(a);\n  }\n}\n"
    f = operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_entry")
    for text, ends in ((body, ["by_element", "cudaMemcpyAsync"]), (body.replace("} else {", "}\n  {"), ["by_element"])):
        assert [s for role, s, _ in steps({N + "cuda/F.cu": f"namespace at::native {{\n{text}}}\n"}, f) if role in ("library", "device")] == ends


def test_a_stub_that_only_empty_tensors_take_is_told_in_short_beside_a_library():
    loop = "void f_kernel(const Tensor& t) {\n  at::parallel_for(0, 8, 1, [&](int64_t a, int64_t b) {\n    g(a);\n  });\n}\n"
    f = operator("sgemm(Tensor self) -> Tensor", "CPU", "at::native::f_entry")
    for question, ends in (("mat._nnz() == 0", ["sgemm_", "f_stub", "f_kernel"]), ("mat.dim() == 2", ["sgemm_", "f_stub", "f_kernel", "lambda"])):
        body = f"void f_entry(const Tensor& self) {{\n  if ({question}) {{\n    f_stub(kCPU, self);\n    return;\n  }}\n  sgemm_(self);\n}}\n"
        found = steps({N + "cpu/F.cpp": f"namespace at::native {{\n{STUB.replace('void f_kernel(const Tensor& t) {}' + chr(10), loop)}{body}}}\n"}, f, key="CPU")
        assert [s for role, s, _ in found if role not in ("entry", "registration")] == ends


def test_where_a_chain_would_be_too_long_it_says_so_and_keeps_the_code_on_the_device():
    hops = "".join(f"void h{n}(const Tensor& t) {{\n  h{n - 1}(t);\n}}\n" for n in range(1, 7))
    last = "void h0(const Tensor& t) {\n  at::parallel_for(0, 8, 1, [&](int64_t a, int64_t b) {\n    g(a);\n  });\n}\n"
    second = "DEFINE_DISPATCH(g_stub);\nvoid g_kernel(const Tensor& t) {\n  h6(t);\n}\nREGISTER_DISPATCH(g_stub, &g_kernel)\n"
    many = "".join(f"DEFINE_DISPATCH(s{n}_stub);\nvoid s{n}_kernel(const Tensor& t) {{\n  all_of_it(t);\n}}\nREGISTER_DISPATCH(s{n}_stub, &s{n}_kernel)\n" for n in range(8))

    def notes(ways):
        body = f"{last}{hops}{second}{many}void f_entry(const Tensor& self) {{\n  if (a) {{\n    f_stub(kCPU, self);\n  }}\n{ways}}}\n"
        f = operator("f(Tensor self) -> Tensor", "CPU", "at::native::f_entry")
        maker, _ = made({N + "cpu/F.cpp": f"namespace at::native {{\n{STUB}{LOOP}{body}}}\n"}, f)
        return [(s.role, s.symbol.rpartition("::")[2], s.note) for s in maker.chain(f, "CPU").steps]

    found = notes("  else {\n    g_stub(kCPU, self);\n  }\n")
    assert found[-1] == ("device", "lambda", "runs in parallel_for; goes on, not shown here")
    assert ("kernel", "h6", "") in found
    found = notes("".join(f"  else if (k{n}) {{\n    s{n}_stub(kCPU, self);\n  }}\n" for n in range(8)))
    assert found[-1][2].endswith("further ways are not shown")
    assert sum("further ways" in note for _, _, note in found) == 1
    assert all("not shown" not in note for _, _, note in notes(""))


def test_kernels_for_which_there_is_no_room_beside_the_main_one_are_not_left_out_without_a_word():
    kernels = "".join(f"__global__ void k{n}(float* p) {{\n}}\n" for n in range(10))

    def noted(count):
        launches = "".join(f"  if (n == {n}) {{\n    k{n}<<<1, 2>>>(p);\n  }}\n" for n in range(count))
        f = operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_entry")
        maker, _ = made({N + "cuda/F.cu": f"namespace at::native {{\n{kernels}void f_entry(const Tensor& self) {{\n{launches}}}\n}}\n"}, f)
        found = [s for s in maker.chain(f, "CUDA").steps if s.role == "device"]
        return len(found), ["further ways" in s.note for s in found]

    shown, told = noted(10)
    assert shown < 10
    assert told == [False] * (shown - 1) + [True]
    assert noted(2) == (2, [False, False])
