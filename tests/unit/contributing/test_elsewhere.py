# SPDX-License-Identifier: BSD-3-Clause
"""Backends whose kernels the build fetches from another repository, from CMake files written by us."""

from cartographer.contributing.elsewhere import elsewhere
from cartographer.model.atlas import Landmark, said_elsewhere
from cartographer.model.atlas import elsewhere as by_device
from cartographer.model.location import Location
from cartographer.model.operator import Operator, Origin

OPERATORS = (Operator("aten::f", "f()", Origin.YAML, Location("y", 1), dispatch={"CPU": "kernel", "XPU": "missing", "SparseXPU": "missing"}),)
CMAKE = """# set(URL "https://not.this")
if(USE_XPU)
  set(DIR ${TORCH_ROOT}/third_party/far)
  set(URL https://example.org/far.git)
  file(READ "${TORCH_ROOT}/third_party/far.txt" COMMIT)
  if(NOT EXISTS "${DIR}/.git")
    execute_process(
      COMMAND git clone --quiet ${URL} ${DIR}
      RESULT_VARIABLE code)
  endif()
  execute_process(
    COMMAND git checkout --quiet ${COMMIT}
    WORKING_DIRECTORY ${DIR})
  add_subdirectory(${TORCH_ROOT}/third_party/far ${CMAKE_BINARY_DIR}/far)
endif()
"""


def found(cmake=CMAKE, pinned="abc123\n", path="caffe2/CMakeLists.txt"):
    return list(elsewhere(OPERATORS, {path: cmake, "third_party/far.txt": pinned}))


def test_the_repository_and_its_commit_are_read_from_the_tree():
    (mark,) = found()
    assert mark == Landmark("XPU", "elsewhere", "caffe2/CMakeLists.txt", 4, "https://example.org/far.git at abc123 (third_party/far.txt)")
    assert said_elsewhere(mark) == "kernels of XPU are in https://example.org/far.git at abc123 (third_party/far.txt), which the build fetches"
    assert by_device([mark, Landmark("XPU", "map", "a", 1)]) == {"xpu": mark}


def test_without_a_commit_only_the_repository_is_told():
    assert [mark.text for mark in found(pinned="")] == ["https://example.org/far.git"]
    assert [mark.text for mark in found(CMAKE.replace("WORKING_DIRECTORY ${DIR}", "WORKING_DIRECTORY ${ELSE}"))] == ["https://example.org/far.git"]


def test_what_is_no_part_of_the_build_or_of_no_backend_is_not_told():
    assert found(CMAKE.replace("  add_subdirectory", "  message")) == []
    assert found(CMAKE.replace("if(USE_XPU)", "if(USE_TOOLS)")) == []
    assert found(CMAKE.replace("if(USE_XPU)", "if(USE_XPU)\nelse()")) == []
    assert found(CMAKE.replace("set(URL ", "set(OTHER ")) == []
    assert found("if(USE_XPU)\nexecute_process(COMMAND git clone") == []
