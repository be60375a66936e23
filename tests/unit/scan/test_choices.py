# SPDX-License-Identifier: BSD-3-Clause
"""Calls on the sides of a conditional operator stand under its condition."""

from cartographer.scan.one import scan_file


def calls(body):
    facts = scan_file("a.cpp", f"void f() {{\n{body}\n}}\n".encode())
    return [(c.name, c.conditions) for c in facts.definitions[0].calls]


def test_both_sides():
    assert calls("auto x = ok(n) ? a.f() : g(b.h());") == [("ok", ()), ("a.f", ("ok(n)",)), ("g", ("!(ok(n))",)), ("b.h", ("!(ok(n))",))]


def test_it_ends_with_the_expression():
    assert calls("k(p ? f() : g(), h());\nreturn q == 1 ? m() : n();\nz();") == [
        ("k", ()), ("f", ("p",)), ("g", ("!(p)",)), ("h", ()), ("m", ("q == 1",)), ("n", ("!(q == 1)",)), ("z", ())]


def test_one_inside_another():
    assert calls("x = a ? f() : b ? g() : h();") == [("f", ("a",)), ("g", ("!(a)", "b")), ("h", ("!(a)", "!(b)"))]
    assert calls("x = a ? (b ? f() : g()) : h();") == [("f", ("a", "b")), ("g", ("a", "!(b)")), ("h", ("!(a)",))]


def test_under_the_conditions_of_its_block():
    assert calls("if (n) {\n  x = a ? f() : std::g();\n}") == [("f", ("n", "a")), ("std::g", ("n", "!(a)"))]


def test_a_lone_mark_says_nothing():
    assert calls("x = a ? f(); g();") == [("f", ()), ("g", ())]
