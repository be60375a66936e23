# SPDX-License-Identifier: BSD-3-Clause
"""Rows that share a name, as in the lists to 1.2, which name no overloads: each is an operator with its own schema and kernels."""

from cartographer.codegen.operators import Functions, derive, listed_of
from cartographer.declare import declarations

NATIVE = "aten/src/ATen/native/native_functions.yaml"
LIST = b"""
- func: mix(Tensor self, Tensor other) -> Tensor
  variants: function, method
  dispatch:
    CPU: mix_cpu
- func: mix(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: mix_out_cpu
- func: mix(Tensor self, Scalar other, int[2] size) -> Tensor
- func: mix(Tensor self, Scalar other, int[2] shape) -> Tensor
- func: mix.Tensor_Scalar_int2_2(Tensor self) -> Tensor
- func: lone(Tensor self) -> Tensor
- func: like(Tensor self) -> Tensor
- func: like(Tensor self, *, ScalarType dtype, Layout layout, Device device, bool pin_memory=False) -> Tensor
"""
BACKWARD = b"""
- name: mix(Tensor self, Tensor other) -> Tensor
  self: grad * 1
- name: mix(Tensor self, Scalar other, int[2] size) -> Tensor
  self: grad * 2
"""
LIKE = "aten::like.Tensor_ScalarType_Layout_Device_bool"
FIRST, OUT, SIZE, SHAPE = "aten::mix", "aten::mix.Tensor_Tensor_out", "aten::mix.Tensor_Scalar_int2", "aten::mix.Tensor_Scalar_int2_1"


def declared():
    return declarations.load({NATIVE: LIST, "tools/autograd/derivatives.yaml": BACKWARD})


def operators():
    return {o.name: o for o in derive(declared(), {})}


def test_each_row_has_its_own_schema_and_kernels():
    made = operators()
    assert list(made) == sorted(["aten::lone", "aten::like", LIKE, FIRST, OUT, SIZE, SHAPE, "aten::mix.Tensor_Scalar_int2_2"])
    assert [(made[n].schema, made[n].declared.line) for n in (FIRST, OUT, SIZE)] == [
        ("aten::mix(Tensor self, Tensor other) -> Tensor", 2), ("aten::mix(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)", 6),
        ("aten::mix(Tensor self, Scalar other, int[2] size) -> Tensor", 9),
    ]  # fmt: skip
    kernels = {n: [r.kernel for r in made[n].registrations if r.key in ("CPU", "CatchAll")] for n in (FIRST, OUT, SIZE)}
    assert kernels == {FIRST: ["at::native::mix_cpu"], OUT: ["at::native::mix_out_cpu"], SIZE: ["at::native::mix"]}


def test_a_second_row_of_one_signature_has_its_kernel_too():
    made = operators()
    assert [[r.kernel for r in made[n].registrations] for n in ("aten::like", LIKE)] == [["at::native::like"]] * 2


def test_a_derivative_goes_to_the_row_of_its_schema():
    made = operators()
    assert [f.text for f in made[FIRST].autograd.formulas] == ["grad * 1"]
    assert [f.text for f in made[SIZE].autograd.formulas] == ["grad * 2"]


def test_an_overload_of_our_own_is_told_and_one_of_the_list_is_not():
    told = {name for name, operator in operators().items() if "made up" in operator.extra.get("overload", "")}
    assert told == {OUT, SIZE, SHAPE, LIKE}


def test_lists_for_comparisons_keep_the_names_of_the_release():
    assert set(listed_of(Functions(declared(), {}))[1]) == {"aten::mix", "aten::mix.Tensor_Scalar_int2_2", "aten::lone", "aten::like"}
