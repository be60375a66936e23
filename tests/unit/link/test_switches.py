# SPDX-License-Identifier: BSD-3-Clause
"""A body that chooses between backends at run time: what belongs to another device, and that no side is the main way."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from sources import N, operator, steps

from cartographer.link.conditions import holds
from cartographer.model.operator import Step
from cartographer.query.where import main_step

SIDES = ("CudaFast", "Mps", "MiopenFast", "Mkldnn", "Slow", "Slow3d")
CALLED = {side: f"of_{side.lower()}" for side in SIDES}
BODY = (
    "DEFINE_DISPATCH(side_stub);\nvoid side_kernel() {}\nREGISTER_DISPATCH(side_stub, &side_kernel)\nvoid f_entry(const Tensor& self) {\n  switch (backend) {\n"
    + "".join(f"    case Backend::{side}:\n      at::{name}(self);\n      break;\n" for side, name in CALLED.items())
    + "    case Backend::Other:\n      side_stub(self.device().type(), self);\n      break;\n  }\n}\n"
)


@pytest.mark.parametrize(
    ("label", "device"),
    [
        ("case ConvBackend::CudnnTranspose", "cuda"), ("case ConvBackend::Mps", "mps"), ("case ConvBackend::Miopen", "hip"), ("case at::kCUDA", "cuda"),
        ("case ConvBackend::MkldnnEmpty", "cpu"), ("case DeviceType::CPU", "cpu"), ("case Backend::Slow2d", None), ("case at::LinalgBackend::Cusolver", None),
    ],
)  # fmt: skip
def test_a_label_that_names_a_devices_backend_asks_for_the_device(label, device):
    for other in ("cpu", "cuda", "mps", "hip"):
        assert holds(label, frozenset((other,))) is (False if device and other != device else True if label in ("case at::kCUDA", "case DeviceType::CPU") else None)


@pytest.mark.parametrize(("key", "others"), [("CPU", ["of_mkldnn"]), ("CUDA", ["of_cudafast"]), ("MPS", ["of_mps"])])
def test_a_switch_of_operators_and_stubs_has_no_main_way_and_no_side_of_another_device(key, others):
    f = operator("f(Tensor self) -> Tensor", key, "at::native::f_entry")
    called = [operator(f"{name}(Tensor self) -> Tensor") for name in CALLED.values()]
    found = steps({N + "cpu/F.cpp": f"namespace at::native {{\n{BODY}}}\n"}, f, *called, key=key)
    assert [s for role, s, _ in found if role == "calls"] == [*others, "of_slow", "of_slow3d"]
    assert [s for role, s, _ in found if role == "stub"] == (["side_stub"] if key == "CPU" else [])


def test_the_switch_itself_is_the_place_to_open():
    entry, side = Step("entry", "f", "F.cpp", 1), Step("calls", "at::g", "F.cpp", 2, "", "case Backend::A")
    stub = (Step("stub", "s", "F.cpp", 3, "", "case Backend::B"), Step("registration", "s", "S.cpp", 4), Step("kernel", "k", "S.cpp", 5))
    assert main_step((entry, side, *stub)) == entry
    assert main_step((entry, *stub, side)) == stub[-1]
