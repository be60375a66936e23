# SPDX-License-Identifier: BSD-3-Clause
"""Entries of operators in Python's registries, from small files written as PyTorch writes its own."""

from cartographer.contributing.registries import registries
from cartographer.model.location import Location
from cartographer.model.operator import Binding, Operator, Origin

TEXTS = {
    "torch/overrides.py": "def get_ignored():\n    return {\n        torch.empty,\n    }\n\n\ndef get_testing():\n    ret = {\n        torch.exp: lambda x: -1,\n"
    "        torch.nn.functional.gelu: lambda x: -1,\n        torch.linalg.svd: lambda x: -1,\n        Tensor.exp: 1,\n        torch.exp2: 1,\n        k: v,\n    }\n",
    "torch/_inductor/lowering.py": "@register_lowering(aten.exp, broadcast=True)\ndef exp(x): ...\n\n\nmake_fallback(\n    torch.ops.aten.gelu.default\n)\n"
    "for each in LIST:\n    register_lowering(each)\n@register_decomposition([aten.exp])\ndef f(x): ...\nhelper(aten.exp)\n",
    "torch/_decomp/__init__.py": "left_out = [\n    aten.svd,\n    aten.exp,\n]\nremove_decompositions(table, left_out)\n\n\ndef core():\n    return get_decompositions(\n        [\n            aten.gelu,\n        ]\n    )\n",
    "torch/distributed/tensor/_ops/_ops.py": "pointwise = [\n    aten.exp.default,\n    aten.exp_.default,  # in place\n    *more,\n]\nmore = [aten.empty.memory_format]\n"
    "for op in pointwise + [\n    aten.gelu.default\n]:\n    register_op_strategy(op, schema_info=Info(op))(strategy)\n"
    "for op, rule in ((aten.svd, f), (torch.ops.aten.linalg_svd.default, g)):\n    register_op_strategy(op)(rule)\n"
    "for op in {aten.exp2: f}:\n    print(op)\nfor op, rule in {aten.exp2.out: f}.items():\n    register_prop_rule(op)(rule)\n"
    "for op in names():\n    register_op_strategy(op)\n@register_op_strategy([aten.exp2.default])\ndef f(): ...\n",
    "test/test_a.py": "class TestA:\n    def test_exp(self):\n        torch.exp(1)\n\n    def test_exp(self, again):\n        torch.exp(1)\n\n    def test_gelu(self):\n        thing.gelu()\n\n    def test_other(self):\n        F.gelu(2)\n",
    "test/nn/test_b.py": "class TestB:\n    def test_gelu(self, device):\n        y = 1\n        F.gelu(y)\n",
    "test/helpers.py": "class TestC:\n    def test_exp(self):\n        torch.exp(1)\n",
}


def operator(name, *python):
    return Operator(f"aten::{name}", f"aten::{name}(Tensor a) -> Tensor", Origin.YAML, Location("y", 1), bindings=tuple(Binding(p, "f", "f.cpp") for p in python))


FOUND = tuple(registries(
    (operator("exp", "torch.exp", "torch.Tensor.exp"), operator("gelu", "torch._C._nn.gelu"), operator("linalg_svd", "torch._C._linalg.linalg_svd"), operator("empty", "torch.empty"), operator("exp2"), operator("exp_")), TEXTS,
))  # fmt: skip


def of(kind):
    return sorted((m.subject.removeprefix("aten::"), m.path.rpartition("/")[2], m.line, m.text) for m in FOUND if m.kind == kind)


def test_overrides_are_the_functions_behind_public_names():
    assert of("override") == [
        ("empty", "overrides.py", 3, "torch.empty"), ("exp", "overrides.py", 9, "torch.exp"), ("exp", "overrides.py", 12, "Tensor.exp"),
        ("gelu", "overrides.py", 10, "torch.nn.functional.gelu"), ("linalg_svd", "overrides.py", 11, "torch.linalg.svd"),
    ]  # fmt: skip


def test_lowerings_name_the_operator_themselves():
    assert of("lowering") == [("exp", "lowering.py", 1, "register_lowering"), ("gelu", "lowering.py", 6, "make_fallback")]


def test_loops_over_lists_that_are_written_in_the_file():
    assert of("sharding") == [
        ("empty", "_ops.py", 6, "register_op_strategy"), ("exp", "_ops.py", 2, "register_op_strategy"), ("exp2", "_ops.py", 15, "register_prop_rule"),
        ("exp2", "_ops.py", 19, "register_op_strategy"), ("exp_", "_ops.py", 3, "register_op_strategy"), ("gelu", "_ops.py", 8, "register_op_strategy"),
        ("linalg_svd", "_ops.py", 11, "register_op_strategy"),
    ]  # fmt: skip
    looped = {"torch/_inductor/lowering.py": "if True:\n    for fallback in (\n        aten.exp,\n        aten.gelu,\n    ):\n        make_fallback(fallback, other)\n"
                                             "for other in [aten.exp2]:\n    make_fallback(fixed, other)\n"}  # fmt: skip
    found = registries((operator("exp"), operator("gelu"), operator("exp2")), looped)
    assert sorted((m.subject, m.kind, m.line, m.text) for m in found) == [("aten::exp", "lowering", 3, "make_fallback"), ("aten::gelu", "lowering", 4, "make_fallback")]


def test_lists_of_decompositions_in_place_or_by_name():
    assert of("decompositions") == [("exp", "__init__.py", 3, "remove_decompositions"), ("gelu", "__init__.py", 11, "get_decompositions")]


def test_tests_by_name_call_the_operator_too():
    assert of("named") == [("exp", "test_a.py", 2, "test_exp"), ("gelu", "test_b.py", 2, "test_gelu")]
