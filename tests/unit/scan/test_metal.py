# SPDX-License-Identifier: BSD-3-Clause
import time

import pytest

from cartographer.scan.one import scan_file

SOURCE = """
template <typename T>
kernel void cross(constant T* a [[buffer(0)]],
                  uint id [[thread_position_in_grid]]) {
  helper(a);
}
[[kernel]] void plain(device float* a) {}
template [[host_name("cross_float")]] kernel void cross<float>(constant float* a [[buffer(0)]]);
#define ONE(OP, DTYPE) \\
  template [[host_name(#OP "_" #DTYPE)]] kernel void OP<DTYPE>( \\
      constant DTYPE* a)
#define BOTH(OP) ONE(OP, half); \\
  ONE(OP, int)
BOTH(cross);
"""


def test_kernels_and_host_names() -> None:
    found = [d for d in scan_file("a.metal", SOURCE.encode()).definitions if d.kind == "metal-kernel"]
    assert [(d.name, d.line) for d in found] == [
        ("cross", 3), ("plain", 7), ("cross_float", 8), ("cross_half", 14), ("cross_int", 14)]
    assert [c.name for c in found[0].calls] == ["helper"]
    assert found[2].macro == ("host_name", "cross")
    assert found[3].returns == "cross"


def test_a_host_name_before_a_type_that_stands_before_the_word_kernel() -> None:
    source = '#define BOTH(A) template [[host_name("i0_" #A)]] void kernel i0<A, A>(constant A* p)\nBOTH(float);\n'
    assert [(d.name, d.line, d.returns) for d in scan_file("a.metal", source.encode()).definitions] == [("i0_float", 2, "i0")]


@pytest.mark.parametrize("last", ["M1(A)", 'x(A) host_name("a")'], ids=["in a circle", "to nothing"])
def test_macros_that_use_each_other_without_end(last: str) -> None:
    """A hundred uses in each of five bodies are ten thousand millions."""
    bodies = [f"#define M{n}(A) " + f"M{n + 1}(A) " * 100 for n in range(1, 6)]
    source = "\n".join([*bodies, f"#define M6(A) {last}", "#define NAMED(A) [[host_name(#A)]] kernel void f", "M1(x);", "NAMED(after);"])
    start = time.process_time()
    found = scan_file("a.metal", source.encode())
    assert time.process_time() - start < 10
    assert [d.name for d in found.definitions] == []


def test_many_kernels_of_one_macro() -> None:
    source = '#define ONE(A) template [[host_name("f_" #A)]] kernel void f<A>(int)\n#define TEN(A) ' + "ONE(A); " * 10 + "\n"
    found = scan_file("a.metal", (source + "TEN(x);\n" * 50).encode()).definitions
    assert sum(d.name == "f_x" for d in found) == 500


def test_metal_in_strings_keeps_its_lines() -> None:
    text = 'int a;\nstatic Library lib(R"METAL(\nkernel void k(device {0}* a) {{\n  f(a);\n}}\n)METAL");\n'
    found = scan_file("a.mm", text.encode()).definitions
    assert [(d.name, d.kind, d.line, d.end) for d in found if d.kind == "metal-kernel"] == [("k", "metal-kernel", 3, 5)]


def test_the_line_of_a_kernel_holds_the_name_that_the_host_asks_for() -> None:
    source = 'template <typename T>\nkernel void f(T a) {}\ntemplate\n[[host_name("f_float")]]\nkernel void\nf<float>(float a);\n'
    found = [d for d in scan_file("a.metal", source.encode()).definitions if d.kind == "metal-kernel"]
    assert [(d.name, d.start, d.line) for d in found] == [("f", 1, 2), ("f_float", 3, 4)]


def test_a_template_whose_name_a_macro_pastes() -> None:
    source = '#define ONE(OP, T) template [[host_name("index_" #OP "_" #T)]] \\\n  void kernel index_ ## OP<T>(T a)\nONE(put, half);\n'
    (found,) = [d for d in scan_file("a.metal", source.encode()).definitions if d.kind == "metal-kernel"]
    assert (found.name, found.returns, found.specialization) == ("index_put_half", "index_put", "half")
