# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "store"))

from cartographer.store import writer
from cartographer.store.reader import Reader


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with the atlas of the sample."""
    import sample_atlas

    made = tmp_path_factory.mktemp("atlas")
    writer.write(sample_atlas.atlas(), made)
    return made


@pytest.fixture
def reader(folder):
    with Reader(folder) as opened:
        yield opened
