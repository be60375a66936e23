# SPDX-License-Identifier: BSD-3-Clause
"""Landmarks of both readers put together."""

from cartographer.contributing.landmarks import joined, read
from cartographer.model.atlas import Landmark
from cartographer.model.location import Location
from cartographer.model.operator import Operator, Origin


def test_what_both_find_is_put_in_order():
    linked = (Landmark("aten::exp", "docs", "torch/_torch_docs.py", 3, "torch.exp"),)
    found = read((), {"CONTRIBUTING.md": b"# Lint\n```\nmake lint \xff\n```\n"})
    assert [(m.kind, m.path, m.line) for m in joined(linked, found)] == [("lint", "CONTRIBUTING.md", 3), ("docs", "torch/_torch_docs.py", 3)]


def test_files_of_tests_are_as_long_as_they_are():
    found = read((), {"torch/testing/_internal/common_methods_invocations.py": b"op_db = [OpInfo('exp')]\n", "test/deep/test_it.py": (
        b"from torch.testing._internal.common_methods_invocations import op_db\nclass TestIt:\n    @ops(op_db)\n    def test_a(self): ...\ninstantiate_device_type_tests(TestIt, globals())\n"
    )})  # fmt: skip
    assert {(m.kind, m.path, m.line) for m in found if m.path.startswith("test/")} == {("tests", "test/deep/test_it.py", 3), ("length", "test/deep/test_it.py", 5)}


def test_repositories_that_the_build_fetches_are_among_them():
    xpu = Operator("aten::f", "f()", Origin.YAML, Location("y", 1), dispatch={"XPU": "missing"})
    cmake = b"if(USE_XPU)\nexecute_process(COMMAND git clone https://example.org/far ${DIR})\nadd_subdirectory(${DIR})\nendif()\n"
    assert [(m.subject, m.line, m.text) for m in read((xpu,), {"caffe2/CMakeLists.txt": cmake}) if m.kind == "elsewhere"] == [("XPU", 2, "https://example.org/far")]
