# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.dispatch.keysets import Bits, UnknownFormError
from cartographer.expand.tokens import tokenize

BITS = Bits(("CPU", "CUDA"), ("Dense", "Sparse"), {"CPU": ("Dense", "CPU"), "SparseCPU": ("Sparse", "CPU"), "CUDA": ("Dense", "CUDA")}, {})


def value(text: str) -> int:
    return BITS.evaluate(tokenize(text, "DispatchKeySet.h"))


def test_sets_are_made_of_keys_and_masks():
    assert value("DispatchKeySet(DispatchKeySet::RAW, full_backend_mask)") == 0b11
    assert value("DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::SparseCPU)") == 0b111
    assert value("DispatchKeySet()") == 0


@pytest.mark.parametrize("odd", ["DispatchKeySet(DispatchKeySet::RAW)", "DispatchKeySet(DispatchKeySet::FULL_AFTER)", "DispatchKeySet(, a)"])
def test_a_form_that_we_do_not_know_says_so(odd):
    with pytest.raises(UnknownFormError):
        value(odd)
