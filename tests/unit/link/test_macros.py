# SPDX-License-Identifier: BSD-3-Clause
"""Macros that a body uses: those of its own file and of the kernels' headers that it includes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, made, operator, steps

WRAPPER = ("#define WRAP(func, ...) do { \\\n  size_t bytes = 0; \\\n  func(nullptr, bytes, __VA_ARGS__); \\\n} while (false)\n"
           "#define RUN(n) do { \\\n  work<<<8, 8>>>(n); \\\n} while (false)\n")
F = operator("f(Tensor self) -> Tensor", "CUDA", "at::native::f_cuda")


def files(body, include="#include <ATen/native/cuda/Wrap.cuh>\n"):
    text = f"{include}namespace at::native {{\n__global__ void work(int n) {{}}\nvoid f_cuda(const Tensor& self) {{\n{body}}}\n}}\n"
    return {N + "cuda/Wrap.cuh": WRAPPER, N + "cuda/F.cu": text}


def test_what_an_argument_names_stands_where_the_macro_of_a_header_is_used():
    body = "  WRAP(\n      OTHER(x)::cub::DeviceRadixSort::SortPairs,\n      self);\n"
    assert steps(files(body), F) == [("entry", "f_cuda", 4), ("library", "SortPairs", 6)]
    assert steps(files(body, "\n"), F) == [("entry", "f_cuda", 4)]


def test_what_the_body_of_a_headers_macro_names_is_placed_at_the_use():
    maker, known = made(files("  RUN(8);\n"), F)
    assert [(s.role, s.line, s.note) for s in maker.chain(known["aten::f"], "CUDA").steps][1:] == [("device", 3, f"launched in {N}cuda/F.cu:5")]


def test_of_two_macros_of_one_name_the_one_that_the_build_has():
    text = ("#ifdef USE_ROCM\n#define RUN() other<<<8, 8>>>(n)\n#elif defined(USE_CUDA)\n#define RUN() work<<<8, 8>>>(n)\n#else\n#define RUN() other<<<8, 8>>>(n)\n#endif\n"
            "namespace at::native {\n__global__ void work(int n) {}\n__global__ void other(int n) {}\nvoid f_cuda(const Tensor& self) {\n  RUN();\n}\n}\n")
    assert steps({N + "cuda/F.cu": text}, F) == [("entry", "f_cuda", 11), ("device", "work", 9)]


def test_a_call_inside_a_string_is_none():
    text = ('#define SAY(out) do { \\\n  out << "work_of(" << out << "\\"work_of("; \\\n} while (0)\n'
            "namespace at::native {\n__global__ void work(int n) {}\nvoid work_of(int n) {\n  work<<<8, 8>>>(n);\n}\nvoid f_cuda(const Tensor& self) {\n  SAY(out);\n}\n}\n")
    assert steps({N + "cuda/F.cu": text}, F) == [("entry", "f_cuda", 9)]


def test_alternatives_in_a_macro_have_their_conditions():
    text = ("#define LAUNCH(n) \\\n  if (isContig) { \\\n    work<<<8, 8>>>(n); \\\n  } else { \\\n    other<<<8, 8>>>(n); \\\n  }\n"
            "namespace at::native {\n__global__ void work(int n) {}\n__global__ void other(int n) {}\nvoid f_cuda(const Tensor& self) {\n  if (self.big()) {\n    LAUNCH(8);\n  }\n}\n}\n")
    maker, known = made({N + "cuda/F.cu": text}, F)
    found = [(s.symbol.rpartition("::")[2], s.branch) for s in maker.chain(known["aten::f"], "CUDA").steps if s.role == "device"]
    assert found == [("work", "self.big() && isContig"), ("other", "self.big() && !(isContig)")]
