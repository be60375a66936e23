# SPDX-License-Identifier: BSD-3-Clause
"""When the code of a function counts as changed, and by how many lines."""

import pytest

from cartographer.compare.bodies import difference, of_steps, statements
from cartographer.model.fact import Definition, FileFacts, MacroDefinition, MacroUse
from cartographer.model.location import Location
from cartographer.model.operator import Chain, Operator, Origin, Status, Step

CODE = b"""void f(Tensor& a) {
  int n = a.size(0);  // how many
  for (int i = 0; i < n; i++) {
    g("// no comment", a, i);
  }
}
"""


@pytest.mark.parametrize(("old", "new", "lines"), [
    (b"// how many", b"", (0, 0)),
    (b"  int n", b"\n\n      int\n        n", (0, 0)),
    (b"  for", b"/* all;\n of them { */ for", (0, 0)),
    (b"// no comment", b"// one", (1, 1)),
    (b"a.size(0)", b"a.size(1)", (1, 1)),
    (b'    g("// no comment", a, i);\n', b"", (1, 0)),
    (b"  int n", b"  check(a,\n    1);\n  int n", (0, 2)),
])  # fmt: skip
def test_what_counts(old, new, lines):
    assert old in CODE
    assert difference(statements(CODE), statements(CODE.replace(old, new))) == lines


def test_python():
    code = b'def f(a):\n    # why\n    if a:\n        g("#")\n    return 1\n'
    same = code.replace(b"    # why\n", b"\n").replace(b"return 1", b"return 1  # one")
    assert difference(statements(code, python=True), statements(same, python=True)) == (0, 0)
    assert difference(statements(code, python=True), statements(code.replace(b"    return", b"        return"), python=True)) == (1, 1)
    assert difference(statements(code, python=True), statements(code.replace(b'"#"', b'"#x"'), python=True)) == (1, 1)


def test_the_innermost_function_around_a_step():
    facts = {"a.cpp": FileFacts("C++", 20, definitions=(
        Definition("S", "S", "struct", 1, 1, 9), Definition("m", "S::m", "method", 3, 3, 5), Definition("f", "f", "declaration", 12, 12, 12),
    ), uses=(MacroUse("IMPL", ("x",), 14, 15, ""),), macros=(MacroDefinition("IMPL", ("n",), 2, "g(n); h();"), MacroDefinition("OTHER", ("n",), 2, "k();")))}  # fmt: skip
    text = b"".join(b"line%d;\n" % n for n in range(1, 21))
    steps = [Step(role, "s", path, line) for role, path, line in (
        ("kernel", "a.cpp", 4), ("device", "a.cpp", 1), ("device", "a.cpp", 7), ("entry", "a.cpp", 12), ("entry", "a.cpp", 14), ("stub", "a.cpp", 5),
        ("kernel", "torchgen/x.py", 3), ("kernel", "gone.cpp", 3),
    )]  # fmt: skip
    operator = Operator("aten::f", "f() -> ()", Origin.YAML, Location("n.yaml", 1), kernels={"CPU": Chain(Status.RESOLVED, None, tuple(steps))})
    found = of_steps([operator], facts, lambda paths: [(path, text) for path in paths])
    assert found == {"a.cpp": {
        4: statements(b"line3;line4;line5;"), 1: statements(b"".join(b"line%d;" % n for n in range(1, 10))), 14: statements(b"line14;line15;g(n);h();"),
    }}  # fmt: skip
