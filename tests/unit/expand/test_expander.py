# SPDX-License-Identifier: BSD-3-Clause
"""Expansion against what a preprocessor prints, and against the line that a token must report."""

import time

import pytest

from cartographer.expand.conditions import evaluate
from cartographer.expand.expander import Expander, ExpansionTooLargeError
from cartographer.expand.macros import MacroTable
from cartographer.expand.tokens import Conditions, read_tokens, spelled, string_value, tokenize
from cartographer.model.fact import FileFacts, Include, MacroDefinition


def facts(*macros, includes=()):
    return FileFacts("C++", 1, macros=macros, includes=tuple(Include(i, 1) for i in includes))


def define(name, parameters, body, line=1, **more):
    return MacroDefinition(name, parameters, line, body, **more)


def expand(text, *macros, line=100, **more):
    table = MacroTable({"a.cpp": facts(*macros)}, lambda _guards: True)
    return Expander(table, "a.cpp", line, **more).expand(tokenize(text, "a.cpp", line))


def squeezed(tokens):
    return " ".join(t.text for t in tokens)


@pytest.mark.parametrize(
    ("macro", "use", "expected"),
    [
        (define("F", ("x",), "x + 1"), "F(2)", "2 + 1"),
        (define("S", ("x",), "#x"), 'S(a  "b\\n")', '"a \\"b\\\\n\\""'),
        (define("P", ("x", "y"), "x##_##y"), "P(add, out)", "add_out"),
        (define("P", ("x", "y"), "x##y"), "P(, out)", "out"),
        (define("V", ("f", "..."), "f(__VA_ARGS__)"), "V(g, 1, (2, 3))", "g ( 1 , ( 2 , 3 ) )"),
        (define("G", ("f", "..."), "f(0, ##__VA_ARGS__)"), "G(g)", "g ( 0 )"),
        (define("G", ("f", "..."), "f(0, ##__VA_ARGS__)"), "G(g, 1, 2)", "g ( 0 , 1 , 2 )"),
        (define("O", ("f", "..."), "f(0 __VA_OPT__(,) __VA_ARGS__)"), "O(g)", "g ( 0 )"),
        (define("O", ("f", "..."), "f(0 __VA_OPT__(,) __VA_ARGS__)"), "O(g, 1)", "g ( 0 , 1 )"),
        (define("R", None, "R + 1"), "R", "R + 1"),
        (define("F", ("x",), "x"), "F (F)(1)", "F ( 1 )"),
        (define("F", ("x",), "x"), "F", "F"),
        (define("N", ("args...",), "g(args)"), "N(1, 2)", "g ( 1 , 2 )"),
    ],
)
def test_one_macro(macro, use, expected):
    assert squeezed(expand(use, macro)) == expected


def test_arguments_expand_before_they_are_put_in_but_not_next_to_paste_or_string():
    one = define("ONE", None, "1")
    both = define("B", ("x",), "x x##_y #x")
    assert squeezed(expand("B(ONE)", one, both)) == '1 ONE_y "ONE"'


def test_a_list_macro_keeps_the_line_of_the_item():
    forall = define("FORALL", ("_",), "\n_(eq, ==)\n_(ne, !=)", line=10)
    item = define("DEFINE", ("name", "sign"), "m.impl(#name, name##_kernel);", line=20)
    out = expand("FORALL(DEFINE)", forall, item)
    assert [(t.text, t.line) for t in out if "eq" in t.text or "ne" in t.text] == [
        ('"eq"', 11), ("eq_kernel", 11), ('"ne"', 12), ("ne_kernel", 12),
    ]  # fmt: skip
    assert next(t for t in out if t.text == "m").line == 20


def test_the_definition_in_force_on_the_line_wins():
    first = define("X", None, "first", line=1, undefined=5)
    second = define("X", None, "second", line=8)
    assert squeezed(expand("X", first, second, line=3)) == "first"
    assert squeezed(expand("X", first, second, line=6)) == "X"
    assert squeezed(expand("X", first, second, line=9)) == "second"


def test_headers_serve_by_inclusion_and_ambiguity_is_not_guessed():
    tree = {
        "aten/src/ATen/a.h": facts(define("X", None, "a")),
        "aten/src/ATen/b.h": facts(define("X", None, "b")),
        "aten/src/ATen/in.cpp": facts(includes=("<ATen/a.h>",)),
        "torch/out.cpp": facts(),
    }
    table = MacroTable(tree, lambda _guards: True)
    assert table.find("X", "aten/src/ATen/in.cpp", 5).body[0].text == "a"
    assert table.find("X", "torch/out.cpp", 5) is None


def test_a_definition_for_another_platform_loses():
    tree = {"a.cpp": facts(define("X", None, "win", 1, guards=("W",)), define("X", None, "here", 3, guards=("!(W)",)))}
    table = MacroTable(tree, lambda guards: "W" not in guards)
    assert table.find("X", "a.cpp", 9).body[0].text == "here"
    swapped = {"a.cpp": facts(define("X", None, "here", 1, guards=("!(W)",)), define("X", None, "win", 3, guards=("W",)))}
    assert MacroTable(swapped, lambda guards: "W" not in guards).find("X", "a.cpp", 9).body[0].text == "here"


def test_runaway_expansion_is_bounded():
    doubling = [define(f"D{n}", None, f"D{n + 1} D{n + 1}") for n in range(40)]
    with pytest.raises(ExpansionTooLargeError):
        expand("D0", *doubling, limit=10_000)


def test_tokens_know_line_guards_and_kind():
    text = '#if A\nf(/* # not\n#a directive */ "x\\"y", R"(raw\n#b)", 1.5e-3f, \'c\'); \\\ng();\n#else // note\nh();\n#endif\nk();\n'
    tokens = read_tokens(text, "a.cpp")
    where = {t.text: (t.line, t.guards) for t in tokens}
    assert where["f"] == (2, ("A",))
    assert where["g"] == (5, ("A",))
    assert where["h"] == (7, ("!(A)",))
    assert where["k"] == (9, ())
    strings = [string_value(t) for t in tokens if t.kind == "string"]
    assert strings == ['x"y', "raw\n#b"]
    assert [t.text for t in tokens if t.kind == "number"] == ["1.5e-3f"]
    assert spelled(tokenize("a  = b")) == "a = b"


def test_elif_chains_name_what_did_not_hold():
    tokens = read_tokens("#ifdef A\na\n#elif B\nb\n#else\nc\n#endif\n", "x")
    assert [t.guards for t in tokens] == [("defined(A)",), ("!(defined(A))", "B"), ("!(defined(A))", "!(B)")]


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        ("defined(CUDA) && CUDART_VERSION >= 11000", True),
        ("!defined(CUDA) || HIP()", False),
        ("UNKNOWN", None),
        ("UNKNOWN && 0", False),
        ("UNKNOWN || (1)", True),
        ("!(defined CUDA)", False),
        ("has_include(<x>)", None),
        ("0x10 == 16 && 7 % 2", True),
    ],
)
def test_conditions(condition, answer):
    values = {"CUDA": 1, "CUDART_VERSION": 12040, "HIP": 0}
    assert evaluate(condition, values.get, lambda n: 1 if n in values else None) is answer


def test_white_space_around_an_argument_is_that_of_the_parameter():
    outer = define("OUTER", ("op", "overload"), "INNER(op.overload)")
    inner = define("INNER", ("name",), "#name")
    assert squeezed(expand("OUTER(pow, Scalar)", outer, inner)) == '"pow.Scalar"'


def test_strings_of_strings_are_bounded():
    nested = [define("S", ("x",), "#x"), define("XS", ("x",), "S(x)"), define("D0", None, '"\\\\"')]
    nested += [define(f"D{n}", None, f"XS(D{n - 1})", line=n + 5) for n in range(1, 60)]
    with pytest.raises(ExpansionTooLargeError):
        expand("D59", *nested)


def test_a_condition_nested_without_end_cannot_be_told():
    for nested in ("(" * 100_000, "!" * 5_000 + "1", "-" * 5_000):
        assert evaluate(nested, lambda _: 1, lambda _: 1) is None


def test_a_file_of_conditions_without_end_takes_no_time():
    conditions = Conditions()
    conditions.take("if", "A")
    start = time.process_time()
    for number in range(20_000):
        conditions.take("elif", f"B{number}")
        conditions.take("ifdef", "C")
    assert time.process_time() - start < 5
    assert conditions.current[-1] == "defined(C)"
    assert len(conditions.current) < 10_000


def test_prefixes_belong_to_literals_and_names_before_quotes_do_not():
    found = [(t.kind, t.text) for t in tokenize("u8\"a\" L'b' R\"x(c\")x\" PRId64\"d\" uR u8 u'' <<= [{~")]
    assert found == [
        ("string", 'u8"a"'), ("char", "L'b'"), ("string", 'R"x(c")x"'), ("name", "PRId64"), ("string", '"d"'), ("name", "uR"), ("name", "u8"),
        ("name", "u"), ("punctuator", "'"), ("punctuator", "'"), ("punctuator", "<<="), ("punctuator", "["), ("punctuator", "{"), ("punctuator", "~"),
    ]  # fmt: skip


def test_lines_go_on_behind_texts_over_several_lines():
    assert [(t.text, t.line) for t in tokenize('a R"(\n\n)" b /*\n*/ c')] == [("a", 1), ('R"(\n\n)"', 1), ("b", 3), ("c", 4)]
