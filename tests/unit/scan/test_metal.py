# SPDX-License-Identifier: BSD-3-Clause
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
    assert found[3].returns == "OP"


def test_metal_in_strings_keeps_its_lines() -> None:
    text = 'int a;\nstatic Library lib(R"METAL(\nkernel void k(device {0}* a) {{\n  f(a);\n}}\n)METAL");\n'
    found = scan_file("a.mm", text.encode()).definitions
    assert [(d.name, d.kind, d.line, d.end) for d in found if d.kind == "metal-kernel"] == [("k", "metal-kernel", 3, 5)]
