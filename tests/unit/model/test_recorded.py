# SPDX-License-Identifier: BSD-3-Clause
"""Which Nodes are recorded where: a formula is not enough."""

import pytest

from cartographer.model.location import Location
from cartographer.model.operator import Autograd, Operator, Origin
from cartographer.model.recorded import NEVER, autograd_key, is_composed, limits, recorded

_KEYS = ("CPU", "CUDA", "MPS", "XPU", "Other", "NestedTensor")


def _operator(*outcomes: str, nodes: tuple[str, ...] = ("SpinBackward0",)) -> Operator:
    dispatch = {f"Autograd{key}": outcome for key, outcome in zip(_KEYS, outcomes, strict=True)}
    return Operator("aten::spin", "aten::spin(Tensor self) -> Tensor", Origin.YAML, Location("list.yaml", 1), dispatch=dispatch, autograd=Autograd(nodes, None))


def test_a_kernel_behind_the_alias_records_on_every_backend():
    op = _operator(*["autograd kernel"] * 6)
    assert recorded(op, "CUDA") == recorded(op, "SparseCPU") == recorded(op, "NestedTensorCUDA") == ("SpinBackward0",)
    assert limits(op) == {}
    assert not is_composed(op)


def test_where_the_composite_function_serves_the_autograd_key_its_callees_are_recorded():
    op = _operator("math kernel", "math kernel", "autograd kernel", "math kernel", "math kernel", "autograd kernel")
    assert recorded(op, "CUDA") == recorded(op, "QuantizedCPU") == recorded(op, "Vulkan") == ()
    assert recorded(op, "MPS") == recorded(op, "NestedTensorCPU") == ("SpinBackward0",)
    assert limits(op) == {"SpinBackward0": "MPS and nested tensors"}
    assert is_composed(op)


def test_a_formula_for_one_key_makes_a_node_of_its_own():
    nodes = ("SpinBackward0", "SpinBackwardAutogradNestedTensor0")
    op = _operator(*["autograd kernel"] * 5, "kernel", nodes=nodes)
    assert recorded(op, "CPU") == ("SpinBackward0",)
    assert recorded(op, "NestedTensorCPU") == ("SpinBackwardAutogradNestedTensor0",)
    assert limits(op) == {"SpinBackwardAutogradNestedTensor0": "nested tensors"}


def test_a_node_that_nothing_records_is_told_as_such():
    op = _operator(*["math kernel"] * 5, "kernel", nodes=("SpinBackward0", "SpinBackwardAutogradNestedTensor0"))
    assert limits(op) == {"SpinBackward0": NEVER, "SpinBackwardAutogradNestedTensor0": "nested tensors"}


def test_a_table_that_does_not_tell_limits_nothing():
    op = _operator(*["not in a wheel"] * 6)
    assert recorded(op, "CUDA") == ("SpinBackward0",)
    assert limits(op) == {}


@pytest.mark.parametrize(("backend", "key"), [("CUDA", "AutogradCUDA"), ("SparseCsrCPU", "AutogradCPU"), ("NestedTensorCPU", "AutogradNestedTensor"),
                                              ("MkldnnCPU", "AutogradOther"), ("Vulkan", "AutogradOther")])  # fmt: skip
def test_the_autograd_key_of_a_backend(backend: str, key: str) -> None:
    assert autograd_key(_operator(*["autograd kernel"] * 6), backend) == key
