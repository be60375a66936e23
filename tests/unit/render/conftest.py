# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

from cartographer.progress import SilentProgress
from cartographer.render.loading import load
from cartographer.render.site import Site
from cartographer.render.write import write_site
from cartographer.store import writer
from cartographer.store.reader import Reader


def _small():
    spec = importlib.util.spec_from_file_location("small_atlas", Path(__file__).with_name("small.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def small():
    return _small()


@pytest.fixture(scope="session")
def database(small, tmp_path_factory):
    return writer.write(small.atlas(), tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def site(database):
    with Reader(database) as reader:
        return Site(load(reader))


@pytest.fixture(scope="session")
def written(database, tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    with Reader(database) as reader:
        report = write_site(reader, out, SilentProgress(), processes=1)
    return SimpleNamespace(out=out, report=report, pages=sorted(out.rglob("*.html")))
