# SPDX-License-Identifier: BSD-3-Clause
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartographer.link.alternatives import simplified, split
from cartographer.link.conditions import text, without_negations


@pytest.mark.parametrize(("said", "shown"), [
    ("a || !(a) && b", "a || b"), ("a && b || a && !(b)", "a"), ("a || a && b", "a"), ("!(a) && !(b) || a || b", ""), ("a || !(a)", ""),
    ("a || !(a) && b || …", "a || b || …"), ("a || !(a) || …", ""), ("!(!a) && b || !a", "b || !a"),
    ("f(a || !(a) && b) || c", "f(a || !(a) && b) || c"), ('p == "a || b" || !(p == "a || b") && q', 'p == "a || b" || q'), ("a && b", "a && b"),
    ("a && (p || q) || a && !(p) && !(q) || !(a)", ""), ("a && (p || q) || !(a)", "(p || q) || !(a)"), ("(a || b) && c || …", "(a || b) && c || …"), ("a || !(!b)", "a || b"),
    ("a || b || a && !(a)", "a || b"), ("b && !(b) || a || b && !(b)", "b && !(b) || a"),
])  # fmt: skip
def test_alternatives_say_nothing_twice(said, shown):
    assert simplified(said, without_negations) == shown


def test_what_always_holds_is_no_condition():
    assert text(("train", "p == 1 || !(p == 1) && !mixed || !(p == 1) && !(!mixed)")) == "train"


TERMS = st.tuples(st.sampled_from("abcd"), st.booleans())


@given(st.lists(st.lists(TERMS, min_size=1, max_size=4, unique=True), min_size=2, max_size=5))
def test_it_means_the_same(sides):
    said = " || ".join(" && ".join(f"!({name})" if denied else name for name, denied in side) for side in sides)
    shown = simplified(said, without_negations)
    for number in range(16):
        world = {name: bool(number >> place & 1) for place, name in enumerate("abcd")}
        wanted = any(all(world[name] is not denied for name, denied in side) for side in sides)
        found = not shown or any(all(world[term.strip("!()")] is not term.startswith("!") for term in split(side, "&&")) for side in split(shown, "||"))
        assert found is wanted, (said, shown)
