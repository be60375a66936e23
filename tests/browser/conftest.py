# SPDX-License-Identifier: BSD-3-Clause
"""A browser, axe-core, and the sites to look at. What is missing is said loudly, once, at the end of the run."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cartographer.checkout.demo import make_demo_repository
from cartographer.checkout.open import SourceRequest
from cartographer.pipeline.collection import build_all
from cartographer.pipeline.serving import Undrawn
from cartographer.progress import SilentProgress
from cartographer.query import serve
from cartographer.render.write import write_site
from cartographer.store import writer
from cartographer.store.reader import Reader

HERE = Path(__file__).parent
_missing: set[str] = set()


def _module(name, path):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def pytest_collection_modifyitems(items):
    for item in items:
        if "real_site" in getattr(item, "fixturenames", ()):
            item.add_marker("torch_tree")


def pytest_terminal_summary(terminalreporter):
    for what in sorted(_missing):
        terminalreporter.write_line(f"!! {what}", red=True)


@pytest.fixture(scope="session")
def browser():
    chromium = _module("cartographer_chromium", HERE / "chromium.py")
    executable = chromium.find()
    if executable is None:
        _missing.add("NO CHROMIUM WAS FOUND: the browser tests did NOT run (install Debian's chromium, or set CARTOGRAPHER_CHROMIUM)")
        pytest.skip("no Chromium")
    opened = chromium.Chromium(executable)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """axe-core's text: named by CARTOGRAPHER_AXE, or brought by npm."""
    named = os.environ.get("CARTOGRAPHER_AXE")
    if named:
        return Path(named).read_text()
    kept = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "cartographer-tests/axe"
    script = kept / "node_modules/axe-core/axe.min.js"
    if not script.is_file() and shutil.which("npm"):
        kept.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--prefix", str(kept), "--silent", "axe-core@4"], timeout=120, check=False, capture_output=True)
    if not script.is_file():
        _missing.add("AXE-CORE COULD NOT BE HAD: accessibility was NOT checked (npm install axe-core, or set CARTOGRAPHER_AXE)")
        return None
    return script.read_text()


@pytest.fixture(scope="session")
def small():
    """The module of the small atlas."""
    return _module("cartographer_small_atlas", HERE.parent / "unit/render/small.py")


@pytest.fixture(scope="session")
def small_site(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    path = writer.write(small.atlas(), folder)
    with Reader(path) as reader:
        write_site(reader, folder, SilentProgress(), processes=1)
    return folder


@pytest.fixture(scope="session")
def shelf(tmp_path_factory):
    """The three releases of mini torch, side by side."""
    return _shelf(tmp_path_factory.mktemp("shelf"))


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """The address of a served folder of the three releases, of which only the newest is drawn."""
    folder = _shelf(tmp_path_factory.mktemp("served"), pages=1)
    with serve.server(folder, draw=Undrawn(folder)) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield serve.address(running)
        running.shutdown()
        thread.join()


def _shelf(folder, **options):
    repo = make_demo_repository(folder / "mini_torch.git")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CARTOGRAPHER_CACHE", str(folder / "cache"))
        tags = ("v0.1.0", "v0.2.0", "v0.3.0")
        assert build_all([SourceRequest(version=tag, repo=str(repo)) for tag in tags], folder / "atlases", SilentProgress(), workers=1, **options) == ()
    return folder / "atlases"


@pytest.fixture(scope="session")
def real_site():
    """A built atlas of a real PyTorch, where CARTOGRAPHER_ATLAS names one."""
    named = os.environ.get("CARTOGRAPHER_ATLAS")
    if not named:
        pytest.skip("CARTOGRAPHER_ATLAS is not set")
    return Path(named).resolve()
