# SPDX-License-Identifier: BSD-3-Clause
"""The wheel: what is in it, and that it works where the checkout is not. Run with `pytest -m wheel`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from the checkout without its dependencies."""
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "--disable-pip-version-check", "-w", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip("hatchling cannot be had without a package index")
    assert done.returncode == 0, done.stderr
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def names(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def files_of(folder):
    """Files that belong to the project, as git would list them."""
    return {p.relative_to(ROOT / folder).as_posix() for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts and not p.name.startswith(".")}


@pytest.mark.parametrize(
    ("folder", "inside"),
    [("templates", "cartographer/_data/templates"), ("site", "cartographer/_data/site"), ("fixtures/mini_torch", "cartographer/_data/mini_torch"), ("cartographer", "cartographer")],
)
def test_nothing_is_left_out(names, folder, inside):
    wanted = files_of(folder)
    assert len(wanted) > 3
    assert sorted(name for name in wanted if f"{inside}/{name}" not in names) == []


def test_nothing_else_is_in_it(names):
    allowed = re.compile(r"cartographer/|torch_cartographer-[\w.]+\.dist-info/")
    assert [name for name in names if not allowed.match(name)] == []
    assert [name for name in names if re.search(r"(^|/)(tests?|benchmarks|__pycache__)/|\.pyc$", name)] == []
    assert {"cartographer/py.typed", "cartographer/store/schema.sql"} < names
    assert any(name.startswith("cartographer/scan/queries/") for name in names)
    assert any(name.endswith("LICENSE") for name in names)


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The command, installed into a fresh environment that borrows the dependencies of this one."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place, with_pip=False, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(place)}))
    python = str(place / "bin" / "python")
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "-q", "--disable-pip-version-check", str(wheel)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    # An editable install of the checkout, if there is one, stays out: .pth files of borrowed folders are not read.
    (packages / "borrowed.pth").write_text("\n".join(sorted(borrowed)) + "\n")
    return place / "bin" / "cartographer"


def run(command, *words, where):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "CARTOGRAPHER"))} | {"CARTOGRAPHER_CACHE": str(where / "cache")}
    return subprocess.run([str(command), *words], capture_output=True, text=True, cwd=where, env=environment, timeout=180, check=False)


def test_it_builds_and_answers_elsewhere(installed, tmp_path):
    module = run(installed.with_name("python"), "-c", "import cartographer; print(cartographer.__file__)", where=tmp_path)
    assert str(ROOT) not in module.stdout
    done = run(installed, "build", "--demo", "--out", "made", "-q", where=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("index.html")
    told = json.loads(run(installed, "where", "torch.mul", "--backend", "CUDA", "--json", "--atlas", "made", where=tmp_path).stdout)
    assert told["answers"][0]["main"]["path"].startswith("aten/src/ATen/native/")
    assert len(list((tmp_path / "made" / "assets").iterdir())) > 2
    assert run(installed, "--version", where=tmp_path).stdout.startswith("cartographer, version ")
    assert run(installed, "export", "made", "-o", "out.jsonl", where=tmp_path).returncode == 0
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) > 50
