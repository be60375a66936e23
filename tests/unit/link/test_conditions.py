# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.link.conditions import (
    CASE,
    alternatives,
    around,
    converts,
    has_rivals,
    holds,
    is_rare,
    opposite,
    rule_out,
    text,
    together,
    weight,
)
from cartographer.link.either import either, either_text
from cartographer.model.fact import Call, Exit

CUDA, CPU, SPARSE = frozenset(("cuda",)), frozenset(("cpu",)), frozenset(("cpu", "sparse"))


@pytest.mark.parametrize(
    ("condition", "answers", "expected"),
    [
        ("self.is_cuda()", CUDA, True), ("self.is_cuda()", CPU, False), ("!self.is_cuda()", CUDA, False), ("!(self.is_cuda())", CPU, True),
        ("iter.device_type() == kCPU && n > 1", CPU, None), ("iter.device_type() == kCPU && n > 1", CUDA, False),
        ("x.device().type() != at::kCUDA", CUDA, False), ("a.is_mps() || a.is_xpu()", CPU, False), ("a.is_mps() || big", CPU, None),
        ("(a.is_cuda() || a.is_xpu()) && n", CUDA, None), ("!t.is_sparse()", SPARSE, False), ("!t.is_sparse()", CPU, True), ("n > 1", CPU, None),
        ("self.is_mkldnn()", CPU, False), ("f(a && b)", CPU, None), ("a != b", CPU, None),
        ("a.layout() == kSparse", SPARSE, True), ("!(a.layout() == kSparseBsr)", SPARSE, None), ("a.layout() != at::kSparseCsc", SPARSE, None),
        ("a.layout() == kSparseCsr", CPU, False),
    ],
)
def test_a_condition_for_tensors_of_a_device(condition, answers, expected):
    assert holds(condition, answers) is expected


def test_negation_goes_back():
    assert opposite("a") == "!(a)"
    assert opposite("!(a)") == "a"
    assert opposite("!(a) || (b)") == "!(!(a) || (b))"


def test_the_general_case_costs_less_than_special_ones():
    assert weight(()) == weight(("!(beta == 0)",)) == weight(("default",)) == weight(("!special",)) == 0
    assert weight(("beta == 0",)) > 0
    assert weight(("empty", "!(beta == 0)")) == weight(("empty",))
    assert weight(("case 4",)) == CASE


def test_a_sparse_tensor_without_elements_is_rare():
    assert is_rare(("mat._nnz() == 0",))
    assert not is_rare(("!(mat._nnz() == 0)",))


def test_floating_point_is_the_usual_type():
    assert weight(("isIntegralType(iter.dtype(), true)",)) == weight(("dtype == at::kHalf",)) > 1
    assert weight(("!(isIntegralType(iter.dtype(), true))",)) == 0
    floats = "std::is_same_v<T, float> || std::is_same_v<T, at::Half>"
    assert weight((f"({floats}) && N <= many",)) < weight((f"!(({floats}) && N <= many)",))
    assert weight((f"({floats} || std::is_same_v<T, int64_t>) && range >= many",)) > 0
    assert weight(("dtype == kFloat",)) < 0.2


def test_memory_in_order_is_the_usual_case():
    assert weight(("iter.is_contiguous()",)) == weight(("!(!iter.is_contiguous())",)) == weight(("case MemoryFormat::Contiguous",)) == 0
    assert weight(("!(contiguous)",)) > weight(("contiguous",))
    for usual in ("is_macos_13_or_newer(MacOSVersion::MACOS_VER_15_0_PLUS)", "is_innermost"):
        assert weight((f"!({usual})",)) > weight((usual,)) == 0
    assert weight(("x.is_contiguous(MemoryFormat::ChannelsLast)",)) > 0


def test_what_is_reached_in_two_ways_stands_under_what_both_ask_for():
    assert either(("a", "b"), ("a", "!(b)")) == ("a",)
    assert either(("a",), ()) == ()
    assert either(("x", "p == 1"), ("x", "p == 2")) == ("x", "p == 1 || p == 2")
    assert either(("x", "p" * 90), ("x", "q" * 90)) == ("x", "p" * 90 + " || …")
    assert either(("p" * 90 + " || …",), ("r" * 90,)) == ("p" * 90 + " || …",)
    assert either(("!(f(" + "p" * 120 + "))",), ("q",)) == ("!(f(" + "p" * 96 + "…)) || …",)
    assert either(("x", "p || q"), ("x", "!(q)")) == ("x",)
    assert either(("x", "p", "q"), ("x", "!(p && q)")) == ("x",)
    assert either(("!(half) && !(brain) || half",), ("!(half)", "brain")) == ()
    assert either(("x", "!(p)", "q"), ("x", "p")) == ("x", "q || p")
    assert together(("a", "b"), ("b", "c")) == ("a", "b", "c")


def test_alternatives_among_what_must_hold_stand_in_brackets():
    assert either(("x", "p || q", "r"), ("x", "s")) == ("x", "(p || q) && r || s")
    assert either(("x", "p || q"), ("x", "s")) == ("x", "p || q || s")


def test_conditions_as_steps_show_them_are_taken_apart_outside_of_brackets_only():
    assert either_text("a && !(b && c)", "a && d") == "a && (!(b && c) || d)"
    assert either_text("p && q", "!(p && q)") == ""
    assert either_text("a && (p || …)", "a && q") == "a && (p || q || …)"
    assert either_text("a && (p || q)", "a && r") == "a && (p || q || r)"
    assert either_text("p && q || r", "p && s") == "p && q || r || p && s"


def test_ways_out_count_where_something_else_runs():
    calls = (Call("fast", "call", 2, conditions=("contiguous",)), Call("stop", "call", 3, conditions=("x.numel() == 0",)), Call("slow", "call", 6))
    exits = (Exit("contiguous", 2, 9), Exit("x.numel() == 0", 4, 9), Exit("nothing", 5, 9))
    left = alternatives(calls, exits)
    assert left == {"contiguous"}
    assert around(calls[2], exits, left) == ("!(contiguous)",)
    assert around(calls[0], exits, left) == ("contiguous",)
    assert around(Call("later", "call", 12), exits, left) == ()


def test_a_case_beside_a_default_or_beside_what_runs_anyway_has_rivals():
    case = ("wide", "case 4")
    assert not has_rivals(case, [case, ("wide", "case 2"), ("!(wide)", "default")])
    assert has_rivals(case, [case, ("wide", "default")])
    assert has_rivals(case, [case, ()])


def test_a_step_shows_conditions_with_their_brackets():
    assert text(("a || b", "c")) == "(a || b) && c"
    assert text(("a || b",)) == "a || b"
    assert text(("!(!a)",)) == "a"
    assert len(text(tuple(letter * 100 for letter in "abcd"))) == 100


def test_beside_a_tensor_of_the_layout_others_may_be_dense():
    asked, other = "a.layout() == kSparseCsr", "b.layout() == kStrided"
    assert not rule_out((asked, other), SPARSE)
    assert rule_out((other,), SPARSE)
    assert rule_out((asked, other, "b.is_mkldnn()"), SPARSE)
    assert rule_out((asked, "a.layout() == kStrided"), SPARSE)
    assert rule_out(("!(a.layout() == kStrided)", other), SPARSE)
    assert rule_out((asked, other), CPU)


def test_conditions_on_types_are_weighed_as_a_whole():
    floats = ("isFloatingType(dtype) || isComplexType(dtype)", "dtype == ScalarType::Float || dtype == ScalarType::Double", "!(isIntegralType(dtype, false) || dtype == kBool)")
    for condition in floats:
        assert weight((condition,)) == 0
        assert weight((f"!({condition})",)) > 1
    assert weight(("isComplexType(dtype) || other",)) > 1  # nothing known of the other side


def test_masks_are_of_booleans_and_copies_between_types_are_told():
    assert weight(("mask_dtype == ScalarType::Bool",)) == 0
    assert weight(("!(mask_dtype == ScalarType::Bool)",)) > 1
    assert weight(("dtype == ScalarType::Bool",)) > 1
    assert converts(("other", "!(dtype == iter.dtype(1))"))
    assert converts(("dtype != src.scalar_type()",))
    assert not converts(("dtype == iter.dtype(1)", "!(dtype == kBool)"))
