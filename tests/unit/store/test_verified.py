# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.store.verified import FILE_NAME, Outcome, Verified, keep, kept

SAID = Verified("2.6.0", (Outcome("autograd Nodes", 9, 7, 1, 1, 0),), "inputs")


def test_an_outcome_is_kept_for_the_atlas_that_was_compared(tmp_path):
    assert kept(tmp_path, "inputs") is None
    keep(tmp_path, SAID)
    assert kept(tmp_path, "inputs") == SAID
    assert kept(tmp_path, "other inputs") is None


@pytest.mark.parametrize("data", [b"", b"\xff", b"[]", b'{"torch": 1}'])
def test_what_is_damaged_is_none(tmp_path, data):
    (tmp_path / FILE_NAME).write_bytes(data)
    assert kept(tmp_path, "inputs") is None
