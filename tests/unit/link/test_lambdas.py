# SPDX-License-Identifier: BSD-3-Clause
"""What a lambda does that a variable holds, it does where the variable is called."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator

F = operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_entry")


def launched(body):
    """The kernels of a body, with the conditions under which they run."""
    text = f"namespace at::native {{\n__global__ void one(int* p) {{}}\n__global__ void two(int* p) {{}}\nTensor f_entry(const Tensor& self) {{\n{body}}}\n}}\n"
    maker, _ = made({N + "cuda/F.cu": text}, F)
    return [(s.symbol.rpartition("::")[2], s.branch) for s in maker.chain(F, "CUDA").steps if s.role == "device"]


ONE, TWO = "  auto run_one = [&](int n) {\n    one<<<8, 8>>>(p);\n  };\n", "  two<<<8, 8>>>(p);\n"


def test_it_runs_where_it_is_called():
    assert launched(f"{ONE}{TWO}") == [("one", ""), ("two", "")]
    assert launched(f"{ONE}  if (self.is_complex()) {{\n    run_one(n);\n    return;\n  }}\n{TWO}") == [("two", "!(self.is_complex())"), ("one", "self.is_complex()")]


def test_several_places_that_lead_to_it_are_several_ways():
    body = f"{ONE}  if (self.is_complex()) {{\n    run_one(1);\n  }} else if (wide) {{\n    for_all(run_one);\n  }} else {{\n  {TWO}  }}\n"
    assert launched(body) == [("two", "!(self.is_complex()) && !(wide)"), ("one", "wide || self.is_complex()")]


def test_where_it_is_called_in_any_case_it_is_no_choice():
    assert launched(f"{ONE}  if (wide) {{\n    run_one(1);\n  }} else {{\n    run_one(2);\n  }}\n") == [("one", "")]
    assert launched(f"{ONE}  if (wide) {{\n    run_one(1);\n  }}\n  run_one(2);\n") == [("one", "")]


def test_conditions_of_the_preprocessor_stay_such():
    body = f"{ONE}#ifdef USE_ROCM\n  if (wide) {{\n    run_one(1);\n  }}\n#endif\n{TWO}"
    assert launched(body) == [("two", "")]


def test_it_hides_a_function_of_its_name_elsewhere():
    files = {
        N + "cpu/F.cpp": "namespace at::native {\nTensor f_cpu(const Tensor& self) {\n  auto mm = [=](int64_t thread) {\n    pack.run(thread);\n  };\n"
        "  at::parallel_for(0, 8, 1, [&](int64_t begin, int64_t end) {\n    mm(begin);\n  });\n}\n}\n",
        "aten/src/ATen/mkl/Blas.cpp": "namespace at::native {\nvoid mm(int64_t n) {\n  mkl_sparse_s_mm(n);\n}\n}\n",
    }  # fmt: skip
    cpu = operator("f(Tensor self) -> Tensor", "CPU", "at::native::f_cpu")
    assert [(s.role, s.symbol) for s in made(files, cpu)[0].chain(cpu, "CPU").steps[1:]] == [("device", "lambda")]
    files[N + "cpu/F.cpp"] = files[N + "cpu/F.cpp"].replace("auto mm", "auto other")
    assert ("library", "mkl_sparse_s_mm") in [(s.role, s.symbol) for s in made(files, cpu)[0].chain(cpu, "CPU").steps]
