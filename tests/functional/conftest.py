# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "store"))

from cartographer.checkout.cache import ENVIRONMENT
from cartographer.checkout.demo import DEMO_TAG, make_demo_repository
from cartographer.checkout.open import SourceRequest
from cartographer.pipeline.building import BuildRequest, build
from cartographer.query import export
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


@dataclass(frozen=True, eq=False)
class Demo:
    """Mini torch, built: its repository, its atlas, and the export."""

    repo: Path
    out: Path
    cache: Path
    head: dict
    ops: dict

    @cache  # noqa: B019 - one for the session
    def text(self, path: str) -> str:
        """A file of the tree that was built."""
        return subprocess.run(["git", "-C", str(self.repo), "show", f"{DEMO_TAG}:{path}"], capture_output=True, text=True, check=True).stdout

    def line(self, path: str, needle: str) -> int:
        """The only line of a file that holds a text; with `^` before it, the only one that begins with it."""
        lines = self.text(path).splitlines()
        found = [n for n, line in enumerate(lines, 1) if (line.lstrip().startswith(needle[1:]) if needle[:1] == "^" else needle in line)]
        assert len(found) == 1, f"{path} has {len(found)} lines with {needle!r}"
        return found[0]


@pytest.fixture(scope="session")
def mini_repo(tmp_path_factory):
    """The repository of mini torch."""
    return make_demo_repository(tmp_path_factory.mktemp("repository") / "mini_torch.git")


@pytest.fixture(scope="session")
def demo(mini_repo, tmp_path_factory):
    """Mini torch, built once for all tests."""
    out = tmp_path_factory.mktemp("demo") / "atlas"
    cache = tmp_path_factory.mktemp("cache")
    build(BuildRequest(SourceRequest(version=DEMO_TAG, repo=str(mini_repo), cache=cache), out, workers=1))
    return Demo(mini_repo, out, cache, *exported(out))


def exported(atlas):
    """The export of an atlas: the first line, and the operators by name."""
    with Reader(atlas) as opened:
        head, *ops = (json.loads(line) for line in export.lines(opened))
    return head, {op["name"]: op for op in ops}


@pytest.fixture
def quiet_cache(tmp_path, monkeypatch):
    """A cache of the test's own."""
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "cache"))
    return tmp_path / "cache"
