# SPDX-License-Identifier: BSD-3-Clause
"""Which step of a chain is opened first."""

from cartographer.model.operator import Step
from cartographer.query.where import main_step


def step(role, symbol, branch=""):
    return Step(role, symbol, "a.cpp", 1, "", branch)


def test_a_helper_of_the_calling_operator_is_not_the_kernel_of_the_called_one():
    steps = [step("entry", "stack"), step("kernel", "stack_inputs"), step("calls", "cat"), step("entry", "cat"), step("kernel", "parallel_cat"), step("device", "copy")]
    assert main_step(steps).symbol == "parallel_cat"
    del steps[4]
    assert main_step(steps).symbol == "copy"


def test_a_body_that_only_calls_is_the_body():
    assert main_step([step("entry", "linear"), step("kernel", "flatten"), step("calls", "addmm")]).symbol == "linear"


def test_what_chooses_among_operators_is_not_the_kernel():
    chooser = [step("entry", "attention"), step("stub", "choice_stub", "if is_supported"), step("registration", "choice_stub"), step("kernel", "choice_cuda")]
    assert main_step([*chooser, step("calls", "flash", "case FLASH"), step("calls", "math", "case MATH")]).symbol == "attention"
    assert main_step([*chooser, step("calls", "pad", "case FLASH")]).symbol == "choice_cuda", "one side alone is no switch"


def test_the_kernel_of_a_launcher_is_that_of_many_and_not_the_one_to_open():
    lambdas = [step("device", "lambda", "dim < n"), step("device", "elementwise_kernel")]
    launched = Step("device", "elementwise_kernel", "Loops.cuh", 7, "or launched by gpu_kernel")
    assert main_step([step("entry", "index_select"), *lambdas]).symbol == "elementwise_kernel"
    assert main_step([step("entry", "index_select"), lambdas[0], launched]).symbol == "lambda"
