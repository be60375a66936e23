# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch from before the list of operators is told as such."""

import pytest

from cartographer.checkout.versions import LANDMARKS, require_pytorch, require_whole_list
from cartographer.errors import CheckoutError


def test_a_tree_without_the_list() -> None:
    with pytest.raises(CheckoutError, match=r"too old: it has no aten/src/ATen/native/native_functions\.yaml") as caught:
        require_pytorch({"torch/__init__.py", "torch/csrc/Module.cpp"}.__contains__, "x")
    assert "v1.0.0" in (caught.value.hint or "")
    with pytest.raises(CheckoutError, match="not a PyTorch tree"):
        require_pytorch({"torch/__init__.py"}.__contains__, "site-packages")


def test_a_tree_whose_list_has_few_operators() -> None:
    old = {*LANDMARKS, "aten/src/ATen/Declarations.cwrap"}
    with pytest.raises(CheckoutError, match=r"Declarations\.cwrap and not in"):
        require_whole_list(old.__contains__, "x")
    require_whole_list({*old, "c10/macros/Macros.h"}.__contains__, "x")
    require_whole_list({*LANDMARKS}.__contains__, "x")
