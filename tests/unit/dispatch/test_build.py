# SPDX-License-Identifier: BSD-3-Clause
"""What CMake files say about a build, and how the stock view answers."""

import time

import pytest

from cartographer.dispatch.build import DEVICE_TYPES, Build, device_types, in_view
from cartographer.dispatch.cmake import read_project

ROOT = """
cmake_minimum_required(VERSION 3.18)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "(AMD64|x86_64)")
  set(CPU_INTEL ON)
endif()
option(USE_CUDA "Use CUDA" ON)
option(USE_XNNPACK "Use XNNPACK" ON)   # a comment (with a bracket
cmake_dependent_option(USE_VULKAN "Vulkan" ON "ANDROID" OFF)
cmake_dependent_option(USE_MKLDNN "oneDNN" "${CPU_INTEL}" "CPU_INTEL OR CPU_AARCH64" OFF)
cmake_dependent_option(USE_NCCL "NCCL" ON "USE_CUDA OR USE_ROCM;UNIX;NOT APPLE" OFF)
cmake_dependent_option(USE_NEW "needs a CMake" ON "CMAKE_VERSION VERSION_GREATER_EQUAL ${SOME_VERSION}" OFF)
if(USE_XNNPACK)
  string(APPEND CMAKE_CXX_FLAGS " -DUSE_XNNPACK")
endif()
if(USE_VULKAN)
  string(APPEND CMAKE_CXX_FLAGS " -DUSE_VULKAN -DUSE_VULKAN_API")
endif()
add_subdirectory(caffe2)
"""
CAFFE2 = """
add_subdirectory(../aten aten)
list(APPEND SRCS ${ATen_SRCS})
append_filelist("jit_sources" SRCS)
if(USE_DISTRIBUTED)
  list(APPEND SRCS ${TORCH_SRC_DIR}/csrc/c10d/Ops.cpp)
endif()
set(NON_AVX)
foreach(name ${SRCS})
  if(name MATCHES "AVX2")
    list(APPEND AVX ${name})
  else()
    list(APPEND NON_AVX ${name})
  endif()
endforeach()
set(SRCS ${NON_AVX} ${AVX})
add_library(torch_cpu ${SRCS})
if(USE_CUDA)
  add_library(torch_cuda ${CUDA_SRCS})
endif()
"""
ATEN = """
file(GLOB native_cpp "native/*.cpp")
file(GLOB vulkan_cpp "native/vulkan/*.cpp")
file(GLOB_RECURSE metal "native/metal/*.mm")
set(ATen_SRCS ${native_cpp})
if(USE_VULKAN)
  set(ATen_SRCS ${ATen_SRCS} ${vulkan_cpp})
endif()
if(APPLE AND USE_METAL)
  list(APPEND ATen_SRCS ${metal})
elseif(ANDROID)
  list(APPEND ATen_SRCS native/phone/a.cpp)
else()
  list(APPEND ATen_SRCS native/desk/a.cpp)
endif()
file(GLOB CUDA_SRCS native/cuda/*.cu)
function(unused)
  list(APPEND ATen_SRCS native/never/a.cpp)
endfunction()
"""
FILES = {
    "CMakeLists.txt": ROOT, "caffe2/CMakeLists.txt": CAFFE2, "aten/CMakeLists.txt": ATEN,
    "build_variables.bzl": 'common = ["torch/csrc/jit/a.cpp"]\njit_sources = sorted(common + ["torch/csrc/jit/b.cpp"])\n',
}  # fmt: skip


@pytest.fixture(scope="module")
def build():
    return Build(read_project(lambda path: FILES[path].encode() if path in FILES else None), ["MPS", "Vulkan", "Metal", "CUDA"])


@pytest.mark.parametrize(
    ("path", "terms"),
    [
        ("aten/native/a.cpp", ()),
        ("aten/native/vulkan/a.cpp", ("vulkan",)),
        ("aten/native/metal/deep/a.mm", ("metal",)),
        ("aten/native/desk/a.cpp", ()),
        ("aten/native/cuda/a.cu", ()),
        ("aten/native/never/a.cpp", ()),
        ("torch/csrc/jit/b.cpp", ()),
        ("torch/csrc/jit/c.cpp", ("not in the build",)),
        ("torch/csrc/c10d/Ops.cpp", ("distributed",)),
        ("aten/native/test/a.cpp", ("tests",)),
        ("aten/native/a.h", ()),
    ],
)
def test_where_a_file_is_compiled(build, path, terms):
    assert build.terms(path, ()) == terms


def test_an_elseif_branch_is_known_by_its_condition(build):
    assert "android" in build.terms("aten/native/phone/a.cpp", ())


@pytest.mark.parametrize(
    ("guard", "terms"),
    [
        ("AT_MKLDNN_ENABLED()", ()),
        ("!AT_MKLDNN_ENABLED()", ("not mkldnn",)),
        ("defined(USE_XNNPACK)", ()),
        ("!(defined(USE_XNNPACK))", ("not xnnpack",)),
        ("defined(USE_VULKAN_API)", ("vulkan_api",)),
        ("defined(USE_ROCM)", ("rocm",)),
        ("!defined(NOBODY_DEFINES_THIS)", ()),
        ("defined(CUDART_VERSION) && CUDART_VERSION >= 12030", ()),
        ("defined(__APPLE__)", ("apple",)),
    ],
)
def test_guards(build, guard, terms):
    assert build.terms("aten/native/a.cpp", (guard,)) == terms


def test_switches_have_their_defaults(build):
    switches = {name: build.switch(name) for name in ("USE_MKLDNN", "USE_VULKAN", "USE_NCCL", "USE_NEW", "USE_ROCM", "NOT_THERE", "X_FOUND")}
    assert switches == {
        "USE_MKLDNN": True, "USE_VULKAN": False, "USE_NCCL": True, "USE_NEW": True, "USE_ROCM": False, "NOT_THERE": False, "X_FOUND": True,
    }  # fmt: skip


@pytest.mark.parametrize(("condition", "holds"), [
    ('CMAKE_SYSTEM_PROCESSOR MATCHES "^(i[3-6]86|x86_64|armv[5-8].*|aarch64|arm64)$"', True), ('CMAKE_SYSTEM_PROCESSOR MATCHES "ppc"', False),
    ('CMAKE_SYSTEM_PROCESSOR MATCHES "*86"', None), ('CMAKE_SYSTEM_PROCESSOR MATCHES "(x"', None), ('CMAKE_SYSTEM_PROCESSOR MATCHES "[[]]"', None),
    ('CMAKE_SYSTEM_PROCESSOR MATCHES "a{99999999999999}"', None), ('CMAKE_SYSTEM_PROCESSOR MATCHES "${PATTERN}"', None), ('NOT CMAKE_SYSTEM_PROCESSOR MATCHES "*86"', None),
])  # fmt: skip
def test_expressions_of_the_tree_match_or_say_nothing(build, condition, holds):
    assert build._cmake(condition) is holds


@pytest.mark.parametrize("pattern", ["(" * 20 + ".|x_" + ")*" * 20 + "!", "(" + "|".join(["."] * 60) + ")*!", ".*" * 60 + "!", "(.|x)" * 60 + "!", "(|||||)" * 30 + "!", "(.?){50}!"])
def test_no_expression_takes_long(build, pattern):
    started = time.process_time()
    assert build._cmake(f'CMAKE_SYSTEM_PROCESSOR MATCHES "{pattern}"') in (None, False)
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(("condition", "holds"), [
    ("CMAKE_SIZEOF_VOID_P EQUAL 8", True), ("CMAKE_SIZEOF_VOID_P LESS 8", False), ("CMAKE_SIZEOF_VOID_P LESS_EQUAL 8", True), ("CMAKE_SIZEOF_VOID_P GREATER 8", False),
    ("CMAKE_SIZEOF_VOID_P GREATER_EQUAL 8", True), ("CMAKE_SIZEOF_VOID_P VERSION_EQUAL 8.0.0", True), ("CMAKE_SIZEOF_VOID_P VERSION_LESS_EQUAL 7.9", False),
    ("CMAKE_VERSION VERSION_LESS_EQUAL 3.27", False), ("CMAKE_VERSION VERSION_LESS_EQUAL ${SOME}", False), ("CMAKE_VERSION VERSION_GREATER_EQUAL ${SOME}", True),
    ("CMAKE_VERSION VERSION_EQUAL 3.27", False), ("CMAKE_SYSTEM_NAME VERSION_LESS 1", None), ("CMAKE_SIZEOF_VOID_P LESS " + "9" * 5000, None),
    ("CMAKE_SYSTEM_NAME IN_LIST SYSTEMS", None), ("USE_CUDA IN_LIST SWITCHES", None), ("USE_CUDA STRLESS x", None), ("USE_CUDA OF_LATER_CMAKE x", None),
    ("USE_CUDA OF_LATER_CMAKE x AND USE_ROCM", False), ("CUDA_VERSION VERSION_LESS_EQUAL 11", None), ("IS_ABSOLUTE x AND USE_CUDA", None), ("NOT TEST x", None), ("DEFINED", None), ("USE_CUDA STREQUAL", False),
    ("USE_CUDA AND ( NOT USE_ROCM )", True), ("USE_CUDA AND USE_ROCM OR USE_CUDA", True),
])  # fmt: skip
def test_comparisons(build, condition, holds):
    assert build._cmake(condition) is holds


def test_no_comparison_becomes_a_word():
    project = read_project({"CMakeLists.txt": b"if(USE_FAR AND CUDA_VERSION VERSION_LESS_EQUAL 11)\n  add_library(torch_cpu a.cpp)\nendif()\n"}.get)
    assert Build(project).terms("a.cpp", ()) == ("far",)


def test_what_a_place_needs_of_the_stock_build(build):
    assert build.needs("aten/native/a.cpp", ("defined(USE_XNNPACK)",)) == ("xnnpack",)
    assert build.needs("aten/native/a.cpp", ()) == ()
    assert in_view(("cuda",))
    assert not in_view(("cuda", "mps"))


@pytest.mark.parametrize("path", DEVICE_TYPES)
def test_devices_are_those_that_the_tree_names(path):
    text = b"enum class DeviceType : int16_t;\nenum class DeviceType : int16_t {\n  CPU = 0,\n  MKLDNN = 1, // a part of the CPU's\n  NPU = 2, // NPU = new\n  Lazy = 3,\n  MOST = 4,\n};"
    named = device_types({path: text})
    assert named == ("CPU", "MKLDNN", "NPU", "Lazy", "MOST")
    bare = Build(read_project(lambda _path: None), named)
    assert bare.terms("aten/native/npu/a.cpp", ()) == ("npu",)
    assert [bare.terms(f"aten/native/{folder}/a.cpp", ()) for folder in ("cpu", "mkldnn", "lazy", "mps")] == [()] * 4
    assert device_types({}) == ()


def test_without_cmake_files_only_the_place_speaks():
    bare = Build(read_project(lambda _path: None), ["MPS"])
    assert bare.terms("aten/native/mps/a.mm", ()) == ("mps",)
    assert bare.terms("aten/native/a.cpp", ()) == ()
