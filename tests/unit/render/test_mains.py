# SPDX-License-Identifier: BSD-3-Clause
"""The overload that leads a page."""

from dataclasses import replace

import pytest

from cartographer.model.location import Location
from cartographer.model.operator import TO_OVERRIDE, Autograd, Chain, Operator, Origin, Registration, Status, Step
from cartographer.render.catalog import main_of
from cartographer.render.pages.passport import lead_of


def _operator(schema: str, origin: Origin = Origin.YAML) -> Operator:
    return Operator(schema.partition("(")[0], schema, origin, Location("list.yaml", 1))


@pytest.mark.parametrize(
    ("first", "others"),
    [
        ("aten::soft.int(Tensor self, int dim) -> Tensor", ["aten::soft.Dimname(Tensor self, str dim) -> Tensor"]),
        ("aten::flat.using_ints(Tensor self, int dim) -> Tensor", ["aten::flat.DimnameList(Tensor self, str[] dims, str out_dim) -> Tensor", "aten::flat.named_out_dim(Tensor self, int dim, str out_dim) -> Tensor"]),
        ("aten::strew.src(Tensor self, Tensor src) -> Tensor", ["aten::strew.reduce(Tensor self, Tensor src, *, str reduce) -> Tensor"]),
        ("aten::zip.Tensor(Tensor self, str how) -> Tensor", ["aten::zip.int(Tensor self, int how) -> Tensor"]),
        ("aten::far.Dimname(Tensor self, str dim) -> Tensor", ["aten::far.int_out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)"]),
    ],
    ids=["a name", "names", "a way", "Tensor all the same", "out all the same"],
)
def test_numbers_lead_before_names(first: str, others: list[str]) -> None:
    assert main_of([_operator(schema) for schema in (*others, first)]).schema == first


def test_a_composite_operator_is_one_though_a_further_backend_has_a_kernel_of_its_own():
    op = Operator("aten::softmax", "aten::softmax(Tensor self) -> Tensor", Origin.YAML, Location("x", 1), dispatch={"CPU": "math kernel", "CUDA": "math kernel", "Metal": "kernel"},
                  kernels={key: Chain(Status.RESOLVED) for key in ("CPU", "CUDA", "Metal")})  # fmt: skip
    assert " ".join(lead_of([op], op)) == "One overload. Composed of other operators: one function for all backends but Metal."
    assert " ".join(lead_of([op], replace(op, dispatch={"CPU": "missing", "Metal": "kernel"}))) == "One overload. Computed by kernels of its own for Metal."


def test_an_error_serves_no_backend():
    """`convolution_overrideable`: a default kernel that tells backends to override it, and XPU does."""
    error, own = Chain(Status.RESOLVED, None, (Step("entry", "turn", "x", 1, TO_OVERRIDE),)), Chain(Status.RESOLVED)
    op = Operator("aten::turn", "aten::turn(Tensor self) -> Tensor", Origin.YAML, Location("x", 1), dispatch={"CPU": "default backend kernel", "CUDA": "default backend kernel", "XPU": "kernel"},
                  kernels={"CPU": error, "CUDA": error, "XPU": own}, registrations=(Registration("CompositeExplicitAutograd", "turn", Origin.YAML),))  # fmt: skip
    assert " ".join(lead_of([op], op)[1:]) == "Computed by kernels of its own for XPU. One function that only raises an error stands for CUDA and CPU."
    composed = replace(op, dispatch={"CPU": "math kernel", "CUDA": "math kernel"}, kernels={"CPU": error, "CUDA": error})
    assert " ".join(lead_of([composed], composed)[1:]) == "One function that only raises an error stands for all backends."
    assert " ".join(lead_of([composed], replace(composed, kernels={"CPU": error, "CUDA": own}))[1:]) == "Composed of other operators: one function for all backends."


def _lead(dispatch: dict[str, str], registrations: tuple[Registration, ...] = (), nodes: tuple[str, ...] = ()) -> str:
    op = Operator("aten::turn", "aten::turn(Tensor self) -> Tensor", Origin.YAML, Location("x", 1), dispatch=dispatch, registrations=registrations,
                  autograd=Autograd(nodes, None), kernels=dict.fromkeys(dispatch, Chain(Status.RESOLVED)))  # fmt: skip
    return " ".join(lead_of([op], op)[1:])


def test_what_serves_the_backends_without_a_kernel_of_their_own():
    assert _lead({"CPU": "math kernel", "CUDA": "math kernel", "MPS": "kernel"}) == "Computed by kernels of its own for MPS. Composed of other operators for CUDA and CPU."
    served = {"CPU": "default backend kernel", "MPS": "kernel"}
    by_hand = Registration("CompositeExplicitAutograd", "at::native::turn", Origin.YAML)
    assert _lead(served, (by_hand,)) == "Computed by kernels of its own for MPS. A default kernel serves CPU."
    assert _lead(served, (replace(by_hand, origin=Origin.STRUCTURED),)) == "Computed by kernels of its own for MPS."


def test_a_layout_that_nothing_serves_is_no_backend_of_a_default_kernel():
    dispatch = {"CPU": "default backend kernel", "SparseCPU": "default backend kernel", "NestedTensorCPU": "missing", "NestedTensorCUDA": "missing"}
    assert _lead(dispatch) == "One default kernel serves all backends but NestedTensor."


def test_the_way_back_where_the_operator_itself_is_not_recorded():
    dispatch = {"CPU": "math kernel", "AutogradCPU": "math kernel", "AutogradNestedTensor": "autograd kernel"}
    assert _lead(dispatch, nodes=("TurnBackward0",)).endswith(" On the way back: TurnBackward0 (nested tensors alone), else those of the operators that it calls.")
    assert _lead({**dispatch, "AutogradNestedTensor": "missing"}, nodes=("TurnBackward0",)).endswith(" On the way back: those of the operators that it calls.")


def test_a_layout_is_named_as_a_whole_only_where_all_of_its_keys_have_kernels():
    default = {"CPU": "default backend kernel", "SparseCPU": "kernel"}
    assert _lead({**default, "SparseCUDA": "default backend kernel"}) == "One default kernel serves all backends but SparseCPU."
    assert _lead({**default, "SparseCUDA": "kernel"}) == "One default kernel serves all backends but Sparse."
    assert _lead({"CPU": "default backend kernel", "MPS": "kernel"}, (Registration("DefaultBackend", "at::native::turn", Origin.YAML),)) == (
        "Computed by kernels of its own for MPS. A default kernel serves CPU."
    )
