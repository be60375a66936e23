# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch's own verdict: which new schemas serve callers of the old one."""

import pytest

from cartographer.compare.verdict import is_subtype, why_not
from cartographer.model.schema import FunctionSchema


@pytest.mark.parametrize(
    ("old", "new", "fine"),
    [
        ("f(Tensor a) -> Tensor", "f(Tensor a, int b=1) -> Tensor", True),
        ("f(Tensor a) -> Tensor", "f(Tensor a, int b) -> Tensor", False),
        ("f(Tensor a, int b=1) -> Tensor", "f(Tensor a, int b=2) -> Tensor", False),
        ("f(Tensor a, int b=1) -> Tensor", "f(Tensor a, SymInt b=1) -> Tensor", True),
        ("f(Tensor a, float b=1) -> Tensor", "f(Tensor a, float b=1.0) -> Tensor", True),
        ("f(Tensor a, int[2] b=0) -> Tensor", "f(Tensor a, int[2] b=[0,0]) -> Tensor", True),
        ("f(Tensor a, int[2] b) -> Tensor", "f(Tensor a, int[3] b) -> Tensor", False),
        ("f(Tensor a) -> Tensor", "f(Tensor? a) -> Tensor", True),
        ("f(Tensor? a) -> Tensor", "f(Tensor a) -> Tensor", False),
        ("f(Tensor a) -> Tensor", "f(Tensor b) -> Tensor", False),
        ("f(Tensor a, int b=1) -> Tensor", "f(Tensor a, *, int b=1) -> Tensor", False),
        ("f(Tensor a, *, int b=1) -> Tensor", "f(Tensor a, int b=1) -> Tensor", True),
        ("f(Tensor a) -> Tensor", "f(Tensor(a!) a) -> Tensor", False),
        ("f(Tensor a) -> Tensor", "f(Tensor a) -> (Tensor, Tensor)", False),
        ("f(Tensor a) -> Tensor", "f(Tensor a) -> Tensor?", False),
        ("f(Tensor a, *, Tensor(a!) out) -> Tensor(a!)", "f(Tensor a, int b=0, *, Tensor(a!) out) -> Tensor(a!)", True),
        ("f(Tensor a, int b) -> Tensor", "f(Tensor a) -> Tensor", False),
    ],
)
def test_backward_compatible(old: str, new: str, fine: bool) -> None:
    assert (why_not(FunctionSchema.parse(new), FunctionSchema.parse(old)) is None) is fine


def test_subtypes() -> None:
    assert is_subtype("int", "Scalar")
    assert is_subtype("ScalarType", "int?")
    assert not is_subtype("bool", "Scalar")
    assert not is_subtype("Tensor[]", "Tensor?[]")
