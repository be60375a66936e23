# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.link.arguments import has_word, split_template
from cartographer.link.mentions import Mentions
from cartographer.link.names import Scope
from cartographer.link.stubs import Stubs
from cartographer.model.fact import Call


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [("a + ab", "a", True), ("ab + aa", "a", False), ("x_a a_x xa", "a", False), ("(a)", "a", True), ("äa a", "a", True), ("äa", "a", False), ("", "a", False)],
)
def test_a_word_is_held_as_a_whole(text, word, expected):
    assert has_word(text, word) is expected


@pytest.mark.parametrize(("text", "parts"), [("", []), (" T ", ["T"]), ("A<int, 2>, B", ["A<int, 2>", "B"]), (",a", ["a"])])
def test_template_arguments(text, parts):
    assert split_template(text) == parts


def test_what_a_call_hands_over():
    stubs = Stubs()
    stub = stubs.place("add_stub", ("at", "native"), create=True)
    call = Call("run", "call", 3, ("iter", "&add_stub", "[=](float a) { return a; }", "Mul<T>(2)", "static_cast<F>(at::eq_out)"), "add_stub, Functor")
    found = Mentions(stubs).of(call, Scope("a.cpp", ("at", "native")))
    assert found.number == 5
    assert found.stubs == (stub, stub)
    assert found.constructed == ("Mul", "static_cast")
    assert found.callbacks == ("add_stub", "Functor", "add_stub")
    assert found.casts == ("static_cast<F>(at::eq_out)",)
    assert found.has_lambda
    assert not found.hands_on


def test_a_pack_may_be_any_number_of_arguments():
    mentions, scope = Mentions(Stubs()), Scope("a.cpp", ())
    assert mentions.of(Call("f", "call", 1, ("a", "rest...")), scope).number is None
    assert mentions.of(Call("f", "call", 1, ("a", "b")), scope).number == 2
    assert mentions.of(Call("x.f", "method", 1, ("a",)), scope).number is None
    assert mentions.of(Call("f", "call", 1), scope).number == 0
