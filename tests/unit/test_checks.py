# SPDX-License-Identifier: BSD-3-Clause
"""The scripts of `.ci` ask for tests by the names that the tests know."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_variables_that_the_check_of_a_real_tree_sets_are_read_by_tests():
    script = (ROOT / ".ci/real").read_text()
    given = set(re.findall(r"(CARTOGRAPHER_\w+)=(?=.*pytest)", script))
    asked = set(re.findall(r'environ(?:\.get\(|\[)"(CARTOGRAPHER_\w+)"', "".join(p.read_text() for p in (ROOT / "tests").rglob("*.py"))))
    assert {"CARTOGRAPHER_TORCH_TREE", "CARTOGRAPHER_ATLAS"} <= given <= asked
