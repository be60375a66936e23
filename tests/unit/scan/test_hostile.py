# SPDX-License-Identifier: BSD-3-Clause
"""Input that nobody writes: it must give facts in bounded time, never an exception."""

import random
import time

import pytest

from cartographer.scan.one import FAILED, scan_file

HOSTILE = {
    "nothing": b"",
    "zeros": b"\0" * 12_000,
    "not utf-8": b'int f() { g("\xff\xfe"); } // \xc3\n' * 100,
    "one long line": b"int a = 1 + " * 30_000 + b"f(x);",
    "open parentheses": b"f(" * 25_000,
    "open braces": b"void f() {" * 12_000,
    "open namespaces": b"namespace a {" * 5_000,
    "open classes": b"class A {" * 5_000,
    "open angles": b"f<" * 25_000,
    "open angles in a list": b"A(b, " + b"<" * 50_000 + b");",
    "labels": b"void f() { switch (a) { " + b"case A::b: " * 5_000 + b"g(); } }",
    "question marks": b"void f() { g(" + b"? " * 60_000 + b"); }",
    "spaces of an enum": b"enum" + b" " * 50_000 + b"! {",
    "open templates": b"template <" * 12_000,
    "closing brackets": b")}]>" * 25_000,
    "open comment": b"int a;\n/* " + b"x" * 25_000,
    "open strings": b'"abc\n' * 12_000,
    "open raw strings": b'R"x(' * 12_000,
    "different raw strings": b"".join(b'R"x%d(' % i for i in range(5_000)),
    "open conditionals": b"#if X\n" * 12_000,
    "endless else": b"#else\n#endif\n" * 12_000,
    "deep conditions": b"#if " + b"(" * 12_000 + b"\n#endif\n",
    "deep parentheses": b"void f() { g" + b"(" * 12_000 + b")" * 12_000 + b"; }",
    "colons": b"a::" * 25_000 + b"f() {}",
    "lambdas": b"void f() { " + b"[](){" * 7_000,
    "backslashes": b"#define X \\\n" * 12_000,
    "launches": b"void f() { k<<<" * 5_000,
    "objective-c": b"@interface X\n@implementation Y\n- (void)m:" * 2_000,
    "host names": b'#define A(x) A(x) B(x)\n#define B(x) A(x) [[host_name("a")]] kernel void f\nA(1);' * 200,
    "commas": b"void f() { g(" + b"a<b," * 5_000 + b"); }",
    "python depth": b"(" * 5_000,
    "python indents": b"".join(b" " * i + b"if x:\n" for i in range(500)),
    "semicolons": b";" * 50_000,
    "words": b"static " * 12_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("path", ["a.mm", "a.py"])
def test_hostile_input(name: str, path: str) -> None:
    start = time.process_time()
    found = scan_file(path, HOSTILE[name])
    assert not any(note.startswith(FAILED) for note in found.notes)
    assert time.process_time() - start < 10


SEED = b"""#if A\ntemplate <typename T> __global__ void k(T* a) { f<T>(a); }\n#endif
namespace n { struct S : B { S() : x{1} {} int x; }; REGISTER(a, &b)
TORCH_IMPL_FUNC(x) (const T& t) { if (a < b) { k<<<1, 2>>>([=] (int i) { return R"(x)"; }); } else g('c', "s"); } }
"""


@pytest.mark.parametrize("path", ["a.cu", "a.mm", "a.py"])
def test_mutated_input(path: str) -> None:
    rng = random.Random(7)
    pieces = [b"{", b"}", b"(", b")", b"<", b">", b'"', b"'", b"#", b"\n", b"\\", b"/*", b"*/", b"//", b";", b":", b"\0", b"\xff", b"@end"]
    for _ in range(200):
        data = bytearray(SEED)
        for _ in range(rng.randrange(1, 8)):
            at = rng.randrange(len(data))
            if rng.random() < 0.5:
                del data[at : at + rng.randrange(1, 20)]
            else:
                data[at:at] = rng.choice(pieces)
        found = scan_file(path, bytes(data))
        assert not any(note.startswith(FAILED) for note in found.notes)


def test_a_grammar_that_does_not_fit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not file by file, as if each were at fault."""
    from cartographer.errors import ScanError
    from cartographer.scan import parsing

    class Old:
        def __init__(self, _language: object) -> None:
            raise ValueError("Incompatible Language version 15")

    parsing._parser.cache_clear()
    monkeypatch.setattr(parsing.tree_sitter, "Parser", Old)
    try:
        with pytest.raises(ScanError, match="does not fit"):
            scan_file("a.py", b"x = 1")
    finally:
        parsing._parser.cache_clear()


def test_a_body_that_ends_with_the_file_in_the_middle_of_a_name_is_read():
    facts = scan_file("aten/src/ATen/native/A.cpp", b"Tensor f(const Tensor& self) {\n  at::g(self); self")
    assert not facts.notes
    assert [d.name for d in facts.definitions] == ["f"]
