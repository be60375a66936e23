# SPDX-License-Identifier: BSD-3-Clause
"""Suites over lists of OpInfos, from small files written as PyTorch writes its own."""

import pytest

from cartographer.contributing.suites import suites

INVOCATIONS = "torch/testing/_internal/common_methods_invocations.py"
TEXTS = {
    INVOCATIONS: "from torch.testing._internal import opinfo\n"
    "from torch.testing._internal.opinfo.core import UnaryUfuncInfo\n"
    "op_db: list = [\n    OpInfo('gelu'),\n    UnaryUfuncInfo('exp'),\n]\n"
    "op_db += opinfo.definitions.op_db\n"
    "python_ref_db = [UnaryRefInfo('_refs.exp')]\n"
    "ops_and_refs = op_db + python_ref_db\n"
    "unary_ufuncs = [op for op in ops_and_refs if isinstance(op, UnaryUfuncInfo)]\n"
    "foreach_one = [ForeachFuncInfo('exp')]\nforeach_two = [ForeachFuncInfo('log')]\n",
    "torch/testing/_internal/opinfo/core.py": "class OpInfo: ...\nclass UnaryUfuncInfo(OpInfo): ...\nclass UnaryRefInfo(UnaryUfuncInfo): ...\nclass ShapeInfo(OpInfo): ...\n",
    "torch/testing/_internal/opinfo/definitions/__init__.py": "from torch.testing._internal.opinfo.definitions import fft\nop_db = [*fft.op_db]\n",
    "torch/testing/_internal/opinfo/definitions/fft.py": "op_db = [ShapeInfo('fft.fft')]\n",
}
HEAD = "from torch.testing._internal.common_methods_invocations import op_db, ops_and_refs, python_ref_db, unary_ufuncs, foreach_one\n"
RUN = "instantiate_device_type_tests(TestIt, globals())\n"


def told(body, path="test/test_it.py", run=RUN):
    found = suites({**TEXTS, path: f"{HEAD}{body}\n{run}"})
    return sorted((m.subject, m.line, m.text) for m in found if m.kind == "tests")


def method(listed, name="test_a", decorator="ops"):
    return f"    @{decorator}({listed})\n    def {name}(self, op): ...\n"


def test_a_method_over_every_record_counts():
    assert told("class TestIt:\n" + method("op_db") + method("op_db, dtypes=one", "test_b")) == [("OpInfo", 3, "2 tests over every OpInfo")]


@pytest.mark.parametrize(
    ("body", "run"),
    [
        ("class TestIt:\n    def test_tools(self):\n        class TestIt:\n            @ops(op_db)\n            def test_a(self): ...\n", RUN),  # a sample inside a test of the tools
        ("class TestIt:\n" + method("op_db"), "x = instantiate_device_type_tests\n"),  # never run
        ("class TestIt:\n" + method("op_db", "helper"), RUN),  # no test
        ("class TestIt:\n    # @ops(op_db)\n    def test_a(self): ...\n", RUN),
        ("class TestIt:\n" + method("a_list_of_its_own"), RUN),
    ],
)
def test_what_runs_over_no_operator_is_no_suite(body, run):
    assert told(body, run=run) == []


def test_files_that_are_no_suites_are_left_out():
    assert told("class TestIt:\n" + method("op_db"), "test/helpers.py") == []
    assert told("class TestIt:\n" + method("op_db"), "test/deep/test_it.py") != []


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("op_db + of_its_own", ["1 test over every OpInfo"]),
        ("itertools.chain(op_db, of_its_own)", ["1 test over every OpInfo"]),
        ("op_db[START:END]", ["1 test over every OpInfo"]),  # shards
        ("op_db[:2]", ["1 test over some OpInfo"]),
        ("[op for op in op_db if op.x]", ["1 test over some OpInfo"]),
        ("filter(lambda op: op.name in names, op_db)", ["1 test over some OpInfo"]),
        ("unary_ufuncs", ["1 test over every UnaryRefInfo", "1 test over every UnaryUfuncInfo"]),
        ("[op for op in op_db if isinstance(op, UnaryUfuncInfo) and op.x]", ["1 test over some UnaryUfuncInfo"]),
        ("[op for op in op_db if not isinstance(op, (UnaryUfuncInfo, OpInfo))]", []),
        ("ops_and_refs", ["1 test over every OpInfo", "1 test over every UnaryRefInfo"]),
        ("op_list=python_ref_db", ["1 test over every UnaryRefInfo"]),
    ],
)
def test_lists_made_of_lists(listed, expected):
    assert [text for _, _, text in told("class TestIt:\n" + method(listed))] == expected


def test_decorators_with_some_arguments_given_and_names_for_lists():
    body = "some_ops = partial(ops, dtypes=one)\nmine = tuple(op for op in op_db if op.y)\nclass TestIt:\n" + method("op_db", decorator="some_ops") + method("mine", "test_b")
    assert told(body) == [("OpInfo", 5, "1 test over every OpInfo, 1 over some")]


def test_a_class_that_another_one_extends_runs_with_it():
    assert told("class Base:\n" + method("op_db") + "class TestIt(Base): ...\n") == [("OpInfo", 3, "1 test over every OpInfo")]


def test_classes_of_the_main_list_are_named():
    listed = {(m.subject, m.path, m.line) for m in suites(TEXTS) if m.kind == "listed"}
    assert listed == {(kind, INVOCATIONS, 3) for kind in ("OpInfo", "UnaryUfuncInfo", "ShapeInfo")}


def test_a_list_that_names_itself_and_a_file_that_is_none_end():
    assert told("a = b\nb = a + op_db\nclass TestIt:\n" + method("b")) != []
    assert list(suites({"test/test_x.py": "op_db instantiate_device_type_tests ((("})) == []
