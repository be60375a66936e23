# SPDX-License-Identifier: BSD-3-Clause
"""Which files of tests run over an operator, told from its records."""

import pytest

from cartographer.guide.suites import suites, with_folder
from cartographer.model.atlas import Landmark

CLASSES = {
    "UnaryUfuncInfo": (
        Landmark("UnaryUfuncInfo", "listed", "i.py", 1, "op_db"), Landmark("UnaryUfuncInfo", "tests", "test/test_u.py", 3, "1 test over every UnaryUfuncInfo"),
        Landmark("UnaryUfuncInfo", "tests", "test/test_s.py", 3, "4 tests over some UnaryUfuncInfo"),
    ),
    "OpInfo": (
        Landmark("OpInfo", "tests", "test/test_a.py", 7, "2 tests over every OpInfo"), Landmark("OpInfo", "tests", "test/test_b.py", 7, "2 tests over every OpInfo, 9 over some"),
        Landmark("OpInfo", "tests", "test/test_c.py", 7, "12 tests over every OpInfo"), Landmark("OpInfo", "tests", "test/test_u.py", 9, "3 tests over some OpInfo"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("records", "every", "some"),
    [
        (["UnaryUfuncInfo(exp)"], ["u", "c", "b", "a"], ["s"]),
        (["RefInfo(_refs.exp)"], [], []),  # in no list of operators
        ([], [], []),
    ],
)
def test_own_class_first_and_those_with_the_most_tests(records, every, some):
    marks = [Landmark("aten::exp", "opinfo", "i.py", 1, record) for record in records]
    found = suites(lambda kind: CLASSES.get(kind, ()), marks)
    assert ([m.path[-4] for m in found.every], [m.path[-4] for m in found.some]) == (every, some)


def test_files_of_one_name_are_told_apart_by_their_folder():
    assert with_folder("1 test", "test/functorch/test_ops.py") == "1 test, in functorch"
    assert with_folder("1 test", "test/test_ops.py") == with_folder("1 test", "torch/x/y.py") == "1 test"
