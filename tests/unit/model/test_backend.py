# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.model.backend import device_of_key, in_order, layout_of_key
from cartographer.model.dispatch import by_outcome


@pytest.mark.parametrize(("key", "device"), [
    ("CUDA", "cuda"), ("SparseCUDA", "cuda"), ("SparseCsrMPS", "mps"), ("QuantizedCPU", "cpu"), ("NestedTensorMeta", "meta"), ("MkldnnCPU", "cpu"),
    ("Vulkan", "vulkan"), ("PrivateUse1", "privateuse1"), ("Functionalize", "functionalize"),
])  # fmt: skip
def test_the_device_of_a_key(key, device):
    assert device_of_key(key) == device


@pytest.mark.parametrize(("key", "layout"), [
    ("CUDA", ""), ("SparseCUDA", "sparse"), ("SparseCsrMPS", "sparse"), ("QuantizedCPU", "quantized"), ("NestedTensorXPU", "nested"), ("MkldnnCPU", "mkldnn"),
])  # fmt: skip
def test_the_layout_of_a_key(key, layout):
    assert layout_of_key(key) == layout


def test_keys_that_most_people_mean_come_first():
    assert in_order({"Vulkan", "CPU", "SparseCPU", "Meta", "CUDA"}) == ["CUDA", "CPU", "Meta", "SparseCPU", "Vulkan"]


def test_the_most_telling_outcome_comes_first():
    table = {"A": "missing", "B": "not in a wheel", "C": "autograd kernel", "D": "kernel", "E": "missing"}
    assert by_outcome(table) == [("kernel", ("D",)), ("autograd kernel", ("C",)), ("missing", ("A", "E")), ("not in a wheel", ("B",))]
