# SPDX-License-Identifier: BSD-3-Clause
"""Operators that bodies write as signs, as far as an operand may be a tensor."""

from cartographer.scan.one import scan_file


def signs(body, head="Tensor f(const Tensor& self, const Tensor & other, int64_t n)"):
    facts = scan_file("a.cpp", f"namespace at {{\n{head} {{\n{body}\n}}\n}}\n".encode())
    return [(c.name, c.arguments, c.line, c.conditions) for c in facts.definitions[0].signs]


def test_signs_between_parameters():
    assert signs("return self != self;") == [("!=", ("self", "self"), 3, ())]
    assert signs("if (n == 1) {\n  return self * 2;\n}\nreturn g(1 - other) +\n  self;") == [
        ("*", ("self", ""), 4, ("n == 1",)), ("-", ("", "other"), 6, ()), ("+", ("", "self"), 6, ())]


def test_one_operand_alone_and_those_that_set_their_left_side():
    assert signs("Tensor x = -self;\nx += other;\nreturn ~x;") == [("-", ("self",), 3, ()), ("+=", ("x", "other"), 4, ()), ("~", ("x",), 5, ())]


def test_what_is_no_sign_between_tensors():
    assert signs("for (const Tensor & t : list) {}\nTensor* p = &self;\nif (self.dim() > n && n > 0) g(self.size(0) - 1, n - 1);") == []
    assert signs("return n - 1;", "int64_t f(int64_t n)") == []
    assert signs("std::vector<Tensor> list = h(self);\nreturn list;") == []


def test_a_sign_in_a_condition_does_not_stand_under_it():
    assert signs("if (self == other) return n;\nreturn 0;") == [("==", ("self", "other"), 3, ())]


def test_conditions_of_the_preprocessor():
    facts = scan_file("a.cpp", b"Tensor f(const Tensor& self) {\n#ifdef Q\nreturn self + self;\n#endif\nreturn self * self;\n}\n")
    assert [(c.name, c.guards) for c in facts.definitions[0].signs] == [("+", ("defined(Q)",)), ("*", ())] or [
        (c.name, len(c.guards)) for c in facts.definitions[0].signs] == [("+", 1), ("*", 0)]


def test_what_operators_give_are_operands():
    assert signs("return at::narrow(x, 0) - at::narrow(y, 0);", "Tensor f(const Tensor& x, TensorList y)") == [("-", ("", "at::narrow"), 3, ())]
    assert signs("return g(x)\n  * at::exp(x);", "Tensor f(const Tensor& x)") == [("*", ("", "at::exp"), 4, ())]
