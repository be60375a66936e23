# SPDX-License-Identifier: BSD-3-Clause
import importlib.util
from pathlib import Path

import pytest

from cartographer.codegen.operators import derive

_SPEC = importlib.util.spec_from_file_location("codegen_release", Path(__file__).with_name("release.py"))
_RELEASE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_RELEASE)


@pytest.fixture(scope="session")
def release():
    return _RELEASE


@pytest.fixture(scope="session")
def operators(release):
    return {o.name.removeprefix("aten::"): o for o in derive(release.declared(), release.SOURCES)}
