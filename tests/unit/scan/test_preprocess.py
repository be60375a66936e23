# SPDX-License-Identifier: BSD-3-Clause
from cartographer.scan.conditions import holds_on_main_build, negated
from cartographer.scan.preprocess import prepare


def test_offsets_hold_and_comments_and_strings_go() -> None:
    text = b'int a; // "x{"\nconst char* s = "}//";/* { \n } */ char c = \'{\'; int n = 1\'000;\n'
    source = prepare(text)
    assert len(source.code) == len(source.plain) == len(text)
    assert "{" not in source.code
    assert "}" not in source.code
    assert '"}//"' in source.plain
    assert "1'000" in source.code
    assert source.line(source.code.index("int n")) == 3


def test_raw_strings_end_at_their_own_delimiter() -> None:
    source = prepare(b'auto a = R"X(one ")" { two)X"; auto b = R"""(x)"")"""; int c;\n')
    assert "{" not in source.code
    assert "int c;" in source.code
    assert [source.plain[a:b] for a, b in source.raw_strings] == ['one ")" { two', 'x)""']


def test_directives_give_guards_macros_and_includes() -> None:
    source = prepare(
        b"#ifndef X_H\n#define X_H\n#include <a/b.h>\n#if defined(A) && B\nint a;\n#elif C\nint b;\n#else\nint c;\n#endif\n"
        b"#ifdef D\n#define F(x, ...) \\\n  g(x); \\\n  h(#x)\n#endif\n#undef F\nint d;\n#endif\n",
    )
    guards = {name: source.guards(source.code.index(f"int {name}")) for name in "abcd"}
    assert guards == {
        "a": ("defined(A) && B",),
        "b": ("!(defined(A) && B)", "C"),
        "c": ("!(defined(A) && B)", "!(C)"),
        "d": (),
    }
    assert [(i.target, i.line) for i in source.includes] == [("a/b.h", 3)]
    macro = source.macros[1]
    assert (macro.name, macro.parameters, macro.line, macro.undefined) == ("F", ("x", "..."), 12, 16)
    assert macro.body == "\n  g(x);\n  h(#x)"
    assert macro.guards == ("defined(D)",)


def test_a_comment_inside_a_macro_keeps_its_lines_together() -> None:
    source = prepare(b"#define M(x) \\\n  f(x, /* one \\\n   two */ \\\n  1)\nint a;\n")
    assert source.code.split() == ["int", "a;"]
    assert source.macros[0].body.split() == ["f(x,", "1)"]


def test_one_of_two_unbalanced_branches_is_kept() -> None:
    code = prepare(b"#if defined(USE_ROCM)\nvoid f(int a) {\n#else\nvoid f(int a, int b) {\n#endif\n}\n").code
    assert "int b" in code
    assert code.count("{") == code.count("}")
    code = prepare(b"#if HAVE_X\nif (x) {\n#endif\nf();\n#if HAVE_X\n}\n#endif\n").code
    assert code.count("{") == code.count("}") == 1


def test_balanced_branches_are_both_kept_but_not_if_0() -> None:
    code = prepare(b"#if A\nint a;\n#else\nint b;\n#endif\n#if 0\nnot code (\n#endif\nint c;\n").code
    assert code.split() == ["int", "a;", "int", "b;", "int", "c;"]


def test_launches_are_blanked_and_remembered() -> None:
    source = prepare(b"k<T><<<grid, dim3(1, 2), 0, s>>>(a);\n")
    assert "<<<" not in source.code
    (opening, (start, end)), = source.launches.items()
    assert source.code[opening] == "("
    assert source.plain[start:end] == "grid, dim3(1, 2), 0, s"


def test_conditions() -> None:
    assert negated("!defined(X)") == "defined(X)"
    assert negated("a && b") == "!(a && b)"
    assert holds_on_main_build("AT_CUDNN_ENABLED()")
    assert holds_on_main_build("!defined(USE_ROCM) && (CUDA_VERSION >= 11000 || X)")
    assert not holds_on_main_build("defined(USE_ROCM)")
    assert not holds_on_main_build("AT_KLEIDIAI_ENABLED()")
    assert holds_on_main_build("defined(USE_X) and !defined(USE_ROCM)")
    assert not holds_on_main_build("not defined(USE_X) or defined(USE_ROCM)")
    assert not holds_on_main_build("(" * 5 + "_WIN32" + ")" * 5)


def test_a_parameter_list_over_lines_moves_the_body_not_its_lines() -> None:
    source = prepare(b"#define RUN(A, \\\n            B) \\\n  f<A>(B);\n#define ONE(A, B) f(A); \\\n  g(B);\n#define BARE \\\n  h();\n")
    lines = {m.name: [n for n, line in enumerate(m.body.split("\n"), m.line) if line.strip()] for m in source.macros}
    assert lines == {"RUN": [3], "ONE": [4, 5], "BARE": [7]}
