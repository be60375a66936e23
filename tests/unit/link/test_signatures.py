# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.link.signatures import bounds, fit, parameter_type, schema_type
from cartographer.model.fact import Definition


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        ("const Tensor& self", "Tensor"),
        ("Tensor & self", "Tensor"),
        ("const at::Tensor &self", "Tensor"),
        ("const std::optional<Tensor>& weight_opt /* optional */", "Tensor?"),
        ("at::OptionalTensorRef weight", "Tensor?"),
        ("IntArrayRef size", "int[]"),
        ("c10::SymIntArrayRef size", "int[]"),
        ("at::OptionalIntArrayRef dim", "int[]?"),
        ("std::optional<IntArrayRef> dim", "int[]?"),
        ("std::optional<int64_t> dim = std::nullopt", "int?"),
        ("const ITensorListRef& tensors", "Tensor[]"),
        ("const c10::List<std::optional<Tensor>>& indices", "Tensor?[]"),
        ("std::optional<std::string_view> rounding_mode", "str?"),
        ("std::array<bool, 3> mask", "bool[]"),
        ("const Scalar& value", "Scalar"),
        ("std::optional<Generator> gen", "Generator?"),
        ("const Tensor&", "Tensor"),
        ("bool", "bool"),
        ("double p", "float"),
        ("float* data", "pointer"),
    ],
)
def test_a_parameter_has_a_class_of_types(parameter, expected):
    assert parameter_type(parameter) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("SymInt[2]?", "int[]?"), ("Tensor(a!)[]", "Tensor[]"), ("Tensor?[]", "Tensor?[]"), ("bool[3]", "bool[]"),
     ("Generator?", "Generator?"), ("ScalarType?", "ScalarType?"), ("Dimname[1]", "Dimname[]"), ("std::array<bool,3>", "bool[]")],
)
def test_a_schema_type_has_the_same_classes(text, expected):
    assert schema_type(text) == expected


def test_overloads_are_told_apart_by_type():
    with_int = ("const Tensor& self", "int64_t dim", "bool keepdim")
    with_name = ("const Tensor& self", "Dimname dim", "bool keepdim")
    assert fit(with_int, ("Tensor", "int", "bool")) > 0
    assert fit(with_name, ("Tensor", "int", "bool")) == -1
    assert fit(with_int, ("Tensor", "int")) == -1


def test_tensor_options_stand_for_four_arguments():
    assert fit(("IntArrayRef size", "TensorOptions options"), ("int[]", "ScalarType?", "Layout?", "Device?", "bool?")) > 0


def test_default_arguments_widen_the_bounds():
    plain = Definition("f", "f", "function", 1, 1, 2, parameters=("int a", "int b = 2"))
    hidden = Definition("f", "f", "function", 1, 1, 2, parameters=("ARGTYPES(double)",))
    assert bounds(plain) == (1, 2)
    assert bounds(hidden) == (0, 99)
