# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.link.guards import World


@pytest.mark.parametrize(
    ("condition", "device", "expected"),
    [
        ("AT_CUDNN_ENABLED()", "cuda", True),
        ("!AT_CUDNN_ENABLED()", "cuda", False),
        ("!(AT_MKLDNN_ENABLED())", "cpu", False),
        ("defined(USE_ROCM)", "cuda", False),
        ("defined(USE_ROCM)", "hip", True),
        ("!defined(USE_ROCM) && CUDA_VERSION >= 12000", "cuda", True),
        ("defined(CUDA_VERSION) && CUDA_VERSION < 11000", "cuda", False),
        ("defined(USE_ROCM) || defined(_MSC_VER)", "cuda", False),
        ("0 && AT_USE_JITERATOR()", "cuda", False),
        ("__CUDA_ARCH__ >= 800", "cuda", None),
        ("SOMETHING_ELSE", "cpu", None),
        ("defined(__APPLE__)", "mps", True),
        ("defined(__APPLE__)", "cpu", False),
        ("AT_KLEIDIAI_ENABLED()", "cpu", False),
        ("defined(USE_X) and !defined(USE_ROCM)", "cuda", True),
        ("not defined(USE_X) or defined(USE_ROCM)", "cuda", False),
    ],
)
def test_a_condition_has_three_answers(condition, device, expected):
    assert World(device).evaluate(condition) is expected


def test_the_tree_settles_its_own_constants():
    assert World("cuda", {"AT_USE_JITERATOR": ((False, ()),)}).evaluate("AT_USE_JITERATOR()") is False


def test_a_constant_with_two_values_goes_by_their_conditions():
    told = {"AT_USE_X": ((True, ("defined(USE_ROCM)",)), (False, ("!(defined(USE_ROCM))",))), "AT_USE_Y": ((True, ("A_LIBRARY",)), (False, ("!(A_LIBRARY)",)))}
    assert (World("cuda", told).holds("AT_USE_X"), World("hip", told).holds("AT_USE_X")) == (False, True)
    assert World("cuda", told).holds("AT_USE_Y") is True  # nobody can tell: what is optional is there


@pytest.mark.parametrize(("device", "has"), [("cuda", "CUDA"), ("cpu", "CUDA"), ("meta", "CUDA"), ("mps", "MPS"), ("xpu", "XPU"), ("vulkan", None)])
def test_a_build_has_one_accelerator(device, has):
    assert {name: World(device).holds(f"USE_{name}") for name in ("CUDA", "MPS", "XPU")} == {name: True if name == has else None for name in ("CUDA", "MPS", "XPU")}


def test_all_conditions_must_hold():
    world = World("cuda")
    assert world.allows(()) is True
    assert world.allows(("AT_CUDNN_ENABLED()", "!defined(USE_ROCM)")) is True
    assert world.allows(("UNKNOWN", "defined(USE_ROCM)")) is False
    assert world.allows(("UNKNOWN", "AT_CUDNN_ENABLED()")) is None


def test_what_stands_in_for_a_library_is_off_where_the_library_is_found():
    assert World("cpu").evaluate("AT_POCKETFFT_ENABLED()") is False
    assert World("cpu").evaluate("AT_MKL_ENABLED()") is True


def test_a_switch_that_the_tree_sets_counts_with_both_sides_and_usually_as_it_is_set():
    switches = {"USE_SOLVER": (("defined(USE_ROCM)",), ("defined(CUSOLVER_VERSION) && CUSOLVER_VERSION >= 11000",)), "USE_OLD": (("CUSOLVER_VERSION < 9000",),)}
    for device, solver in (("cuda", True), ("cpu", None)):
        world = World(device, open_switches=switches)
        assert world.allows(("defined(USE_SOLVER)",)) is world.allows(("!defined(USE_SOLVER)",)) is None
        assert world.usual.allows(("defined(USE_SOLVER)",)) is solver
    assert World("cuda", open_switches=switches).usual.allows(("defined(USE_OLD)",)) is False


def test_a_switch_that_guards_its_own_definition_stays_open():
    assert World("cuda", open_switches={"USE_X": (("!defined(USE_X)",),), "USE_Y": ()}).usual.allows(("defined(USE_X)",)) is None
    assert World("cuda", open_switches={"USE_Y": ()}).usual.allows(("defined(USE_Y)",)) is None
