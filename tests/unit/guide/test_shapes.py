# SPDX-License-Identifier: BSD-3-Clause
"""The shape of an operator in a release, as a heading says it."""

import pytest

from cartographer.guide.shapes import shape_of
from cartographer.model.location import Location
from cartographer.model.operator import Chain, Operator, Origin, Status, Step

STUB = Chain(Status.RESOLVED, None, (Step("entry", "f", "A.cpp", 1), Step("stub", "s", "A.cpp", 9), Step("registration", "s", "cpu/A.cpp", 5), Step("kernel", "k", "cpu/A.cpp", 1)))
PLAIN = Chain(Status.RESOLVED, None, (Step("entry", "f", "A.cpp", 1),))
NONE = Chain(Status.NONE)


def operator(name="aten::f", chains=(), served="kernel", **more):
    return Operator(name, f"{name}(Tensor a) -> Tensor", Origin.YAML, Location("y", 1), dispatch={"Tracer": "kernel", **dict.fromkeys(("CPU", *dict(chains)), served)}, kernels=dict(chains), **more)


@pytest.mark.parametrize(
    ("overloads", "words"),
    [
        ([operator(structured_delegate="f.out", chains={"CPU": PLAIN}), operator("aten::f.out", structured=True, chains={"CPU": STUB})], "Structured, with a stub"),
        ([operator(structured_delegate="f.out", chains={"CPU": PLAIN}), operator("aten::f.out", structured=True, chains={"CPU": PLAIN})], "Structured"),
        ([operator(structured_delegate="f.out", chains={"CPU": STUB}), operator("aten::f.out", structured=True, extra={"ufunc_inner_loop": "Generic: f"})], "Structured, written by the build"),
        ([operator(chains={"CPU": STUB}, served="catch all")], "One function for all backends"),
        ([operator(chains={"CPU": PLAIN}, served="math kernel")], "Composite, implicit"),
        ([operator(chains={"CPU": PLAIN}, served="default backend kernel")], "Composite, explicit"),
        ([operator(chains={"CPU": PLAIN, "CUDA": PLAIN, "Meta": PLAIN})], "A function for each backend"),
        ([operator(chains={"CPU": STUB, "CUDA": PLAIN})], "A function for each backend, with a stub"),
    ],
)
def test_words_of_a_heading(overloads, words):
    assert shape_of(overloads).words == words
    assert shape_of(overloads).says.endswith(".")


def test_one_backend_alone():
    op = Operator("aten::f", "aten::f(Tensor a) -> Tensor", Origin.YAML, Location("y", 1), dispatch={"CUDA": "kernel", "Meta": "kernel", "Tracer": "kernel", "CPU": "missing"}, kernels={"CUDA": PLAIN, "CPU": NONE, "Meta": PLAIN})
    assert shape_of([op]).words == "On CUDA only"
