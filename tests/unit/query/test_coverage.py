# SPDX-License-Identifier: BSD-3-Clause
"""Which backend serves what, from rows of an atlas."""

import json

import pytest

from cartographer.errors import NotFound, UsageError
from cartographer.model.atlas import Landmark
from cartographer.model.location import Location
from cartographer.model.operator import ONLY_RAISES, TO_OVERRIDE, Chain, Operator, Origin, Registration, Status, Step
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
    assert csv_text(found).splitlines()[:2] == ["backend,operator,how,outcome,build,through", "MPS,aten::mm,kernel,kernel,,"]
    (record,) = json.loads(json_text(found))
    assert record["counts"] == {"kernel": 1, "default": 1, "composite": 1, "fallback": 1, "missing": 0, "not told": 1}


def test_a_registered_fallback_is_no_kernel():
    where = Location("aten/src/ATen/mps/MPSFallback.mm", 9)
    registered = Registration("MPS", "at::mps_fallback", Origin.LIBRARY, rule=f"calls the backend fallback of MPS ({where})", place=where)
    operator = Operator("aten::x", "", Origin.YAML, where, registrations=(registered,), dispatch={"MPS": "kernel"})
    assert coverage([operator], "MPS")[0].counts["fallback"] == 1


def test_a_default_kernel_that_only_raises_serves_nobody():
    """`convolution_overrideable`: whoever brings a backend must register it. A backend that registers an error of its own has said what it wants."""
    alone = Chain(Status.RESOLVED, None, (Step("entry", "at::native::f", "a.cpp", 1, ONLY_RAISES),))
    works = Chain(Status.RESOLVED, None, (Step("entry", "at::native::g", "a.cpp", 9),))
    default, own = "default backend kernel", "kernel"
    operator = Operator(
        name="aten::f", schema="f()", origin=Origin.YAML, declared=Location("x", 1),
        dispatch={"CPU": default, "CUDA": own, "XPU": own, "PrivateUse1": default}, kernels={"CPU": alone, "CUDA": works, "XPU": alone},
    )  # fmt: skip
    everywhere = row("aten::full", CPU=default, CUDA=default, XPU=default, PrivateUse1=default)
    found = {backend.key: [served.how for served in backend.operators if served.name == "aten::f"] for backend in coverage([operator, everywhere])}
    assert found == {"CPU": ["raises"], "CUDA": ["kernel"], "XPU": ["refuses"], "PrivateUse1": ["raises"]}
    assert [served.name for served in coverage([operator], "PrivateUse1", missing=True)[0].operators] == ["aten::f"]


def test_an_error_that_every_backend_raises_is_nobody_s_to_bring():
    """`all.dimname` is not implemented for any backend; the error of `…_overrideable` tells a backend to bring one, though none of the tree does."""
    everywhere = Chain(Status.RESOLVED, None, (Step("entry", "at::native::all", "a.cpp", 1, ONLY_RAISES),))
    told = Chain(Status.RESOLVED, None, (Step("entry", "at::native::g", "a.cpp", 9, TO_OVERRIDE),))
    default, math = "default backend kernel", "math kernel"
    dims = operator("all.dimname", {"CPU": math, "CUDA": math, "PrivateUse1": math, "Tracer": "kernel"}, kernels={"CPU": everywhere, "CUDA": everywhere})
    mine = operator("g_overrideable", {"CPU": default, "CUDA": default, "PrivateUse1": default}, kernels={"CPU": told, "CUDA": told})
    for key in ("CPU", "PrivateUse1"):
        assert {s.name: s.how for s in coverage([dims, mine], key)[0].operators} == {"aten::all.dimname": "refuses", "aten::g_overrideable": "raises"}
        assert [s.name for s in coverage([dims, mine], key, missing=True)[0].operators] == ["aten::g_overrideable"]


def test_what_the_numbers_are_numbers_of_is_said():
    """Five of the six operators are of aten; other places count all."""
    assert "of 5 operators of aten, not of all 6 of the release" in list(table_lines(coverage(ROWS)))
    assert "of 2 operators of aten tagged core, not of all 6 of the release" in list(table_lines(coverage(ROWS, "CPU", core=True)))
    assert json.loads(json_text(coverage(ROWS[:5])))[0]["base"] == "of 5 operators of aten"


def operator(name, dispatch, registrations=(), **more):
    return Operator(f"aten::{name}", f"{name}()", Origin.YAML, Location("x", 1), registrations=registrations, dispatch=dispatch, **more)


def test_an_error_that_is_the_right_answer_is_nothing_to_bring():
    """`crow_indices` of a dense tensor: the operator is for tensors of another layout, for which alone it has kernels."""
    alone = Chain(Status.RESOLVED, None, (Step("entry", "at::native::f", "a.cpp", 1, ONLY_RAISES),))
    works = Chain(Status.RESOLVED, None, (Step("entry", "at::native::g", "a.cpp", 9),))
    default = "default backend kernel"
    keys = {"CPU": default, "SparseCPU": default, "SparseCsrCPU": "kernel", "SparseCsrMPS": default, "PrivateUse1": default}
    crow = operator("crow_indices", keys, kernels={"CPU": alone, "SparseCPU": alone, "SparseCsrCPU": works})
    (found,) = coverage([crow], "PrivateUse1", missing=True)
    assert (found.counts["refuses"], found.counts.get("raises", 0), found.operators) == (1, 0, ())
    told = {backend.key: backend.operators[0].how for backend in coverage([crow])}
    assert told == {"CPU": "refuses", "SparseCPU": "refuses", "SparseCsrMPS": "raises", "PrivateUse1": "refuses"}


def structured(key="CompositeExplicitAutogradNonFunctional"):
    return (Registration(key, "at::meta::structured_add", Origin.STRUCTURED),)


OWN, MADE = "kernel", "default backend kernel"
FAMILY = [
    operator("add.Tensor", {"CPU": OWN, "MPS": MADE, "PrivateUse1": MADE}, structured(), structured_delegate="add.out"),
    operator("add_.Tensor", {"CPU": OWN, "MPS": MADE, "PrivateUse1": MADE}, structured(), structured_delegate="add.out"),
    operator("add.out", {"CPU": OWN, "MPS": "backend fallback", "PrivateUse1": "missing"}, structured=True),
]


def test_forms_that_the_build_writes_around_out_wait_for_it():
    """The dispatcher finds a kernel for all backends, which calls out=: one kernel to bring serves the three."""
    (new,) = coverage(FAMILY, "PrivateUse1")
    assert {s.name: (s.how, s.through, s.forms) for s in new.operators} == {
        "aten::add.Tensor": ("waits", "aten::add.out", ()), "aten::add_.Tensor": ("waits", "aten::add.out", ()),
        "aten::add.out": ("missing", "", ("aten::add.Tensor", "aten::add_.Tensor")),
    }  # fmt: skip
    assert [s.name for s in coverage(FAMILY, "PrivateUse1", missing=True)[0].operators] == ["aten::add.out"]
    assert coverage(FAMILY, "MPS")[0].counts["waits"] == 2, "out= is left to the fallback, and they with it"
    assert coverage(FAMILY, "CPU")[0].counts["kernel"] == 3
    lines = list(table_lines((new,)))
    assert "waits      aten::add.Tensor  (once aten::add.out has a kernel)" in lines
    assert "missing    aten::add.out  (its kernel serves aten::add.Tensor, aten::add_.Tensor too)" in lines
    assert "\nto bring: 1 kernel of PrivateUse1; with them comes what waits: 2 further forms" in lines


def test_a_form_whose_out_is_served_does_not_wait():
    """`all.dims`: out= has a kernel for all backends itself."""
    dims = operator("all.dims", {"PrivateUse1": MADE}, structured(), structured_delegate="all.dims_out")
    out = operator("all.dims_out", {"PrivateUse1": MADE}, (Registration("CompositeExplicitAutograd", "at::native::all_dims_out_default", Origin.YAML),), structured=True)
    assert coverage([dims, out], "PrivateUse1")[0].counts["default"] == 2
    by_hand = operator("add.Tensor", {"PrivateUse1": MADE}, (Registration("CompositeExplicitAutograd", "at::native::add", Origin.YAML),), structured_delegate="add.out")
    assert coverage([by_hand, FAMILY[-1]], "PrivateUse1")[0].counts["default"] == 1, "a kernel that is written by hand does not call out="


def test_what_torchgen_adds_waits_for_what_it_is_made_of():
    made = (Registration("CompositeExplicitAutograd", "at::native::f", Origin.GENERATED),)
    rows = [
        operator("bernoulli_.Tensor", {"PrivateUse1": "missing"}),
        operator("bernoulli.Tensor", {"PrivateUse1": MADE}, made, generated_from="aten::bernoulli_.Tensor"),
        operator("bernoulli.Tensor_out", {"PrivateUse1": MADE}, made, generated_from="aten::bernoulli_.Tensor"),
        operator("__ilshift__.Scalar", {"PrivateUse1": OWN}),
        operator("__lshift__.Scalar", {"PrivateUse1": "missing"}),
        operator("__lshift__.Scalar_out", {"PrivateUse1": MADE}, made, generated_from="aten::__ilshift__.Scalar"),
    ]
    waits = {s.name: s.through for s in coverage(rows, "PrivateUse1")[0].operators if s.how == "waits"}
    assert waits == {"aten::bernoulli.Tensor": "aten::bernoulli_.Tensor", "aten::bernoulli.Tensor_out": "aten::bernoulli_.Tensor",
                     "aten::__lshift__.Scalar_out": "aten::__lshift__.Scalar"}  # fmt: skip


def test_kernels_of_another_repository_are_not_told_to_be_missing():
    mark = Landmark("PrivateUse1", "elsewhere", "caffe2/CMakeLists.txt", 9, "https://example.org/far at abc")
    (found,) = coverage(FAMILY, "PrivateUse1", elsewhere={"privateuse1": mark})
    assert (found.counts["not told"], found.counts["missing"], found.elsewhere) == (3, 0, mark)
    assert "\nkernels of PrivateUse1 are in https://example.org/far at abc, which the build fetches: caffe2/CMakeLists.txt:9" in list(table_lines((found,)))
    (record,) = json.loads(json_text((found,)))
    assert record["elsewhere"]["path"] == "caffe2/CMakeLists.txt"
    assert coverage(FAMILY, "CPU", elsewhere={"privateuse1": mark})[0].elsewhere is None
