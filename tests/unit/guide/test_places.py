# SPDX-License-Identifier: BSD-3-Clause
"""Places of an operator whose kernel leaves the work to another one."""

from types import SimpleNamespace

from cartographer.guide import places
from cartographer.model.atlas import Landmark
from cartographer.model.location import Location
from cartographer.model.operator import Chain, Operator, Origin, Status, Step

HOME, CUDA, MPS = "native/Indexing.cpp", "native/cuda/IndexKernel.cu", "native/mps/Indexing.mm"
OWNER = Landmark("/native/mps/", "owner", "CODEOWNERS", 7, "@m")
BY_ALL = "default backend kernel"


def operator(name, line, dispatch, **kernels):
    chains = {key: Chain(Status.RESOLVED, None, steps) for key, steps in kernels.items()}
    return Operator(f"aten::{name}", f"aten::{name}(Tensor a) -> Tensor", Origin.YAML, Location("native_functions.yaml", line), dispatch=dict.fromkeys(kernels, dispatch), kernels=chains)


def call(name, line, branch=""):
    return Step("calls", f"at::{name}", HOME, line, f"aten::{name}", branch)


IMPL = operator("_put_impl", 30, "kernel", CUDA=(Step("entry", "put_impl", HOME, 31), Step("stub", "put_stub", HOME, 5), Step("registration", "put_stub", CUDA, 90), Step("kernel", "put_cuda", CUDA, 80)),
                MPS=(Step("entry", "put_mps", MPS, 12),))  # fmt: skip
GOES_ON = Step("entry", "put_impl", HOME, 31, "of aten::_put_impl")
PUT = operator("put", 10, BY_ALL, CUDA=(Step("entry", "at::put", HOME, 11), call("_put_impl", 12), GOES_ON, call("masked_fill", 40)), MPS=(Step("entry", "at::put", HOME, 11), call("_put_impl", 12)))
BOTH = operator("both", 20, "math kernel", CUDA=(Step("entry", "at::both", HOME, 21), call("put", 22), call("_put_impl", 23, "x.dim() > 1")))
OVER = operator("over", 50, "math kernel", CUDA=(Step("entry", "at::over", HOME, 51), call("put", 52)))
ALL = {op.name: op for op in (IMPL, PUT, BOTH, OVER)}


def told(op):
    reader = SimpleNamespace(landmarks=lambda *_: (OWNER,), group=lambda base, *_: (ALL[f"aten::{base}"],) if f"aten::{base}" in ALL else ())
    return [(t.what, t.text, t.path, t.line) for t in places.touches(reader, [op])]


def test_the_kernels_of_the_one_operator_that_is_called_are_places():
    assert told(PUT) == [
        ("yaml row", "put", "native_functions.yaml", 10), ("calls", "_put_impl", HOME, 12), ("CUDA called", "put_impl", HOME, 31), ("CUDA called", "put_stub", CUDA, 90),
        ("CUDA called", "put_cuda", CUDA, 80), ("MPS called", "put_mps", MPS, 12), ("owners", "/native/mps/ @m", "CODEOWNERS", 7),
    ]  # fmt: skip
    assert [t[:2] for t in told(OVER) if "call" in t[0]] == [("calls", "put"), ("calls", "_put_impl"), ("CUDA called", "put_impl"), ("CUDA called", "put_stub"), ("CUDA called", "put_cuda")]


def test_what_is_made_of_several_is_only_said_to_be():
    assert not any("call" in what for what, *_ in told(BOTH))
    assert (places.made_of_several([BOTH]), places.made_of_several([PUT, IMPL])) == ("aten::both", "")


def test_a_kernel_with_code_of_its_own_calls_not_only():
    works = operator("works", 60, BY_ALL, CUDA=(Step("entry", "at::works", HOME, 61), call("put", 62), Step("kernel", "loop", HOME, 70)))
    vague = operator("vague", 60, BY_ALL, CUDA=(Step("entry", "at::vague", HOME, 61), Step("calls", "Tensor::gt", HOME, 62, "aten::gt.Scalar or aten::gt.Tensor")))
    assert [places.only_call(op) for op in (works, vague, IMPL)] == [None, None, None]
