# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

from cartographer.history import ages
from cartographer.model.age import Ages
from cartographer.model.atlas import FileDates, Strata
from cartographer.model.location import Location
from cartographer.model.operator import Autograd, Chain, Operator, Origin, Status, Step

STRATA = Strata("lines", "", tuple((f"{n}" * 40, f"201{n}-01-01") for n in range(5)), {
    "yaml": FileDates("yaml", None, None, (), ((1, 4), (1, 1))),
    "k.cpp": FileDates("k.cpp", None, None, (), ((2, 3), (2, 2), (2, -1))),
    "k.cu": FileDates("k.cu", None, None, (), ((2, 0), (2, 1))),
})  # fmt: skip


def test_of() -> None:
    age = ages.of(STRATA, "k.cpp", 2, 3)
    assert age is not None
    assert (age.oldest, age.newest) == ("2012-01-01", "2013-01-01")


def test_parts_of_an_operator() -> None:
    cpu = Chain(Status.RESOLVED, steps=(Step("entry", "e", "k.cu", 1), Step("kernel", "k", "k.cpp", 1)))
    cuda = Chain(Status.RESOLVED, steps=(Step("entry", "e", "k.cu", 3),))
    operator = Operator(
        "aten::x", "aten::x() -> Tensor", Origin.YAML, Location("yaml", 1), autograd=Autograd(("XBackward0",), Location("yaml", 2)),
        kernels={"CPU": cpu, "CUDA": cuda, "MPS": Chain(Status.NONE), "XPU": Chain(Status.RESOLVED, steps=(Step("kernel", "k", "k.cpp", 5),))},
    )  # fmt: skip
    assert ages.of_operator(Ages(STRATA), operator, lambda _path, line: (line, line + 1)) == {
        "declared": "2014-01-01", "kernel": "2011-01-01", "kernel.CPU": "2013-01-01", "kernel.CUDA": "2011-01-01", "kernel.XPU": None,
        "derivative": "2011-01-01",
    }  # fmt: skip
