# SPDX-License-Identifier: BSD-3-Clause
"""Which backend serves what, from rows of an atlas."""

import json

import pytest

from cartographer.errors import NotFound, UsageError
from cartographer.model.location import Location
from cartographer.model.operator import ONLY_RAISES, Chain, Operator, Origin, Registration, Status, Step
from cartographer.query.coverage import backends, coverage, csv_text, json_text, table_lines
from cartographer.store.values import OperatorRow


def row(name, tags=(), **dispatch):
    namespace, _, base = name.partition("::")
    return OperatorRow(
        id=1, name=name, namespace=namespace, base=base, overload="", schema=name, origin=Origin.YAML, declared=Location("x", 1),
        build=(), tags=tags, python=(), keys=(), structured_keys=frozenset(), dispatch=dispatch, statuses={}, nodes=(),
    )  # fmt: skip


ROWS = [
    row("aten::mm", ("core",), CPU="kernel", MPS="kernel", PrivateUse1="missing", AutogradCPU="autograd kernel"),
    row("aten::svd", CPU="kernel", MPS="backend fallback", PrivateUse1="missing", AutogradCPU="autograd kernel"),
    row("aten::full", ("core",), CPU="default backend kernel", MPS="default backend kernel", PrivateUse1="default backend kernel"),
    row("aten::linear", CPU="math kernel", MPS="math kernel", PrivateUse1="math kernel", AutogradCPU="math kernel"),
    row("aten::odd", CPU="kernel", MPS="not in a wheel", PrivateUse1="missing"),
    row("prims::abs", CPU="kernel"),
]


def test_one_backend_operator_by_operator():
    (found,) = coverage(ROWS, "mps")
    assert found.key == "MPS"
    assert {s.name: s.how for s in found.operators} == {
        "aten::mm": "kernel", "aten::svd": "fallback", "aten::full": "default", "aten::linear": "composite", "aten::odd": "not told",
    }  # fmt: skip
    assert found.total == 5


def test_what_an_out_of_tree_backend_must_register():
    (found,) = coverage(ROWS, "PrivateUse1", missing=True)
    assert [s.name for s in found.operators] == ["aten::mm", "aten::svd", "aten::odd"]
    (mps,) = coverage(ROWS, "MPS", missing=True)
    assert {s.name: s.how for s in mps.operators} == {"aten::svd": "fallback", "aten::odd": "not told"}, "a list that leaves out what is not told reads as complete"
    (core,) = coverage(ROWS, "PrivateUse1", missing=True, core=True)
    assert [s.name for s in core.operators] == ["aten::mm"]


def test_backends_are_told_from_layers():
    assert backends(ROWS) == ("CPU", "MPS", "PrivateUse1")
    assert [b.key for b in coverage(ROWS)] == ["CPU", "MPS", "PrivateUse1"]


def test_backends_of_a_release_without_kernels_for_all_of_them():
    """To 1.7 there was no CompositeExplicitAutograd: the table of such a release was empty."""
    old = [row("aten::mm", CPU="kernel", MSNPU="missing", BackendSelect="fallthrough backend fallback", AutogradCPU="autograd kernel"),
           row("aten::full", CPU="catch all", MSNPU="catch all", BackendSelect="fallthrough backend fallback", AutogradCPU="catch all")]
    assert [(b.key, b.counts["kernel"], b.counts["composite"], b.counts["missing"]) for b in coverage(old)] == [("CPU", 1, 1, 0), ("MSNPU", 0, 1, 1)]
    with pytest.raises(UsageError) as error:
        coverage(old, "MPS")
    assert error.value.hint == "did you mean MSNPU?\nbackends of this release: CPU, MSNPU"


def test_an_unknown_backend_names_near_ones():
    with pytest.raises(UsageError) as error:
        coverage(ROWS, "MPSS")
    assert "MPS" in error.value.hint


def test_a_key_without_a_column_is_no_unknown_key():
    with pytest.raises(UsageError, match="no column for XLA") as error:
        coverage(ROWS, "xla", listed=lambda: ("CPU", "XLA"))
    assert "-b PrivateUse1" in error.value.hint
    with pytest.raises(UsageError, match="no dispatch key 'NoSuch'"):
        coverage(ROWS, "NoSuch", listed=lambda: ("CPU", "XLA"))


def test_an_empty_table_is_told_in_words():
    with pytest.raises(NotFound, match="tagged core"):
        coverage([row("aten::mm", CPU="kernel")], "CPU", core=True)
    for backend in (None, "CPU"):
        with pytest.raises(NotFound, match="no dispatch tables"):
            coverage([row("aten::mm")], backend)


def test_the_three_forms_say_the_same():
    found = coverage(ROWS, "MPS")
    lines = list(table_lines(found))
    assert "MPS" in lines[1]
    assert "fallback   aten::svd" in lines
    assert csv_text(found).splitlines()[:2] == ["backend,operator,how,outcome,build", "MPS,aten::mm,kernel,kernel,"]
    (record,) = json.loads(json_text(found))
    assert record["counts"] == {"kernel": 1, "default": 1, "composite": 1, "fallback": 1, "missing": 0, "not told": 1}


def test_a_registered_fallback_is_no_kernel():
    where = Location("aten/src/ATen/mps/MPSFallback.mm", 9)
    registered = Registration("MPS", "at::mps_fallback", Origin.LIBRARY, rule=f"calls the backend fallback of MPS ({where})", place=where)
    operator = Operator("aten::x", "", Origin.YAML, where, registrations=(registered,), dispatch={"MPS": "kernel"})
    assert coverage([operator], "MPS")[0].counts["fallback"] == 1


def test_a_default_kernel_that_only_raises_serves_nobody():
    """`convolution_overrideable`: whoever brings a backend must register it."""
    alone = Chain(Status.RESOLVED, None, (Step("entry", "at::native::f", "a.cpp", 1, ONLY_RAISES),))
    works = Chain(Status.RESOLVED, None, (Step("entry", "at::native::g", "a.cpp", 9),))
    default, own = "default backend kernel", "kernel"
    operator = Operator(
        name="aten::f", schema="f()", origin=Origin.YAML, declared=Location("x", 1),
        dispatch={"CPU": default, "CUDA": own, "XPU": own, "PrivateUse1": default}, kernels={"CPU": alone, "CUDA": works, "XPU": alone},
    )  # fmt: skip
    everywhere = row("aten::full", CPU=default, CUDA=default, XPU=default, PrivateUse1=default)
    found = {backend.key: [served.how for served in backend.operators if served.name == "aten::f"] for backend in coverage([operator, everywhere])}
    assert found == {"CPU": ["raises"], "CUDA": ["kernel"], "XPU": ["raises"], "PrivateUse1": ["raises"]}
    assert [served.name for served in coverage([operator], "PrivateUse1", missing=True)[0].operators] == ["aten::f"]
