# SPDX-License-Identifier: BSD-3-Clause
"""Every way to name a PyTorch ends in the same tree; on mini torch always, on real ones where they are given."""

from __future__ import annotations

import os
import random
import subprocess
import tarfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from cartographer.checkout.blob_ids import blob_id
from cartographer.checkout.cache import Cache
from cartographer.checkout.demo import DEMO_TAG, make_demo_repository
from cartographer.checkout.manifest import manifest
from cartographer.checkout.open import SourceRequest, history_repository, open_tree
from cartographer.model.source import Availability, HistoryLevel, SourceKind, Tree
from cartographer.pipeline.building import BuildRequest, build, read_atlas
from cartographer.progress import SilentProgress
from cartographer.query import export
from cartographer.store.reader import Reader

LIST = "aten/src/ATen/native/native_functions.yaml"
SAFELY = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python 3.11.3 and older have none


def git(folder: Path, *arguments: str) -> bytes:
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, env=environment).stdout


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Mini torch as a bare repository that serves filters."""
    bare = make_demo_repository(tmp_path_factory.mktemp("mini") / "mini_torch.git")
    git(bare, "config", "uploadpack.allowFilter", "true")
    git(bare, "config", "uploadpack.allowAnySHA1InWant", "true")
    return bare


def ways(mini: Path, place: Path) -> dict[str, SourceRequest]:
    """Mini torch asked for in every way that has all files."""
    worktree, shallow, unpacked = place / "worktree", place / "shallow.git", place / f"pytorch-{DEMO_TAG}"
    copy = place / "copy.git"
    git(place, "clone", "-q", "--bare", str(mini), str(copy))
    git(copy, "worktree", "add", "-q", "--detach", str(worktree), DEMO_TAG)
    git(place, "clone", "-q", "--bare", "--depth=1", "--branch", DEMO_TAG, mini.as_uri(), str(shallow))
    with tarfile.open(fileobj=BytesIO(git(mini, "archive", DEMO_TAG))) as archive:
        archive.extractall(unpacked, **SAFELY)
    cache = place / "cache"
    at = {"cache": cache, "version": DEMO_TAG}
    return {
        "repo": SourceRequest(repo=str(mini), **at), "worktree": SourceRequest(repo=str(worktree), **at), "shallow": SourceRequest(repo=str(shallow), **at),
        "directory": SourceRequest(source=str(unpacked), cache=cache), "checkout": SourceRequest(source=str(worktree), cache=cache),
        **{f"clone {level.value}": SourceRequest(url=mini.as_uri(), history=level, cache=place / level.value, version=DEMO_TAG) for level in HistoryLevel},
    }


def test_all_ways_lead_to_the_same_files(mini: Path, tmp_path: Path) -> None:
    trees = {name: open_tree(request, SilentProgress()) for name, request in ways(mini, tmp_path).items()}
    listed = trees["repo"].files()
    assert len(listed) > 20
    for name, tree in trees.items():
        assert tree.files() == listed, name
        assert (tree.info.tag, tree.info.version) == (DEMO_TAG, DEMO_TAG[1:]), name
        assert [blob_id(data) for _, data in tree.read_many(file.path for file in listed)] == [file.blob for file in listed], name
    commits = {name: tree.info.commit for name, tree in trees.items() if name != "directory"}
    assert set(commits.values()) == {git(mini, "rev-parse", f"refs/tags/{DEMO_TAG}^{{commit}}").decode().strip()}


def test_what_each_way_allows_the_history(mini: Path, tmp_path: Path) -> None:
    found = {name: history_repository(open_tree(request, SilentProgress())) for name, request in ways(mini, tmp_path).items()}
    told = {name: None if access is None else (access.level.value, access.shallow) for name, access in found.items()}
    assert told == {
        "repo": ("lines", False), "worktree": ("lines", False), "shallow": ("lines", True), "directory": None, "checkout": ("lines", False),
        "clone lines": ("lines", False), "clone files": ("files", False), "clone none": ("none", True),
    }
    assert all(bool(access.reason) == (told[name] != ("lines", False)) for name, access in found.items() if access is not None)


@pytest.mark.parametrize("by", ["version", "source"])
def test_a_worktree_has_the_dates_and_the_releases_of_its_clone(mini: Path, tmp_path: Path, by: str) -> None:
    asked = ways(mini, tmp_path)

    def export_of(request: SourceRequest, name: str) -> list[str]:
        with Reader(build(BuildRequest(request, tmp_path / name, html=False), SilentProgress())) as reader:
            assert "v0.1.0" in reader.lineage().releases
            return list(export.lines(reader))

    for fresh in (False, True):  # what was kept of the clone, and nothing
        request = replace(asked["worktree" if by == "version" else "checkout"], cache=tmp_path / "fresh" if fresh else tmp_path / "cache")
        assert export_of(request, f"worktree {fresh}")[1:] == export_of(asked["repo"], "repo")[1:]


def test_the_same_operators_from_a_clone_and_from_a_folder(mini: Path, tmp_path: Path) -> None:
    requests = ways(mini, tmp_path)

    def operators(name: str) -> object:
        return read_atlas(open_tree(requests[name], SilentProgress()), Cache(tmp_path / "facts"), SilentProgress(), workers=1).operators

    assert operators("clone none") == operators("directory") != ()


def test_the_number_of_processes_changes_nothing(mini: Path, tmp_path: Path) -> None:
    tree = open_tree(ways(mini, tmp_path)["directory"], SilentProgress())
    one, two, three = (read_atlas(tree, Cache(tmp_path / f"facts{n}"), SilentProgress(), workers=n) for n in (1, 2, 3))
    assert one == two == three
    assert any(step.role == "device" for operator in one.operators for step in operator.kernels["CUDA"].steps)


def check_real(tree: Tree) -> None:
    """What holds for every real tree: git's ids, all bytes readable, thousands of files in scope."""
    files = tree.files()
    assert [file.path for file in files] == sorted({file.path for file in files})
    chosen = random.Random(1).sample(files, 200)
    for file, (path, data) in zip(chosen, tree.read_many(file.path for file in chosen), strict=True):
        assert (path, file.size, file.blob) == (file.path, len(data), blob_id(data))
    assert len(manifest(files).files) > 3000
    assert tree.availability(LIST) is Availability.PRESENT
    assert tree.availability("torch/no/such/file.py") is Availability.ABSENT


@pytest.mark.torch_tree
@pytest.mark.skipif("CARTOGRAPHER_TORCH_TREE" not in os.environ, reason="CARTOGRAPHER_TORCH_TREE is not set")
def test_a_real_tree(tmp_path: Path) -> None:
    request = SourceRequest(source=os.environ["CARTOGRAPHER_TORCH_TREE"], cache=tmp_path)
    tree = open_tree(request, SilentProgress())
    check_real(tree)
    assert tree.info.kind is SourceKind.DIRECTORY
    assert open_tree(request, SilentProgress()).files() == tree.files()


@pytest.mark.torch_repo
@pytest.mark.skipif("CARTOGRAPHER_TORCH_REPO" not in os.environ, reason="CARTOGRAPHER_TORCH_REPO is not set")
def test_a_real_repository(tmp_path: Path) -> None:
    repo = os.environ["CARTOGRAPHER_TORCH_REPO"]
    before = sorted((path, path.stat().st_mtime_ns) for path in Path(repo).rglob("*"))
    for version in ("v1.7.0", "1.6.0"):
        tree = open_tree(SourceRequest(version, repo=repo, cache=tmp_path), SilentProgress())
        check_real(tree)
        assert tree.info.tag == f"v{version.removeprefix('v')}"
        assert tree.info.commit == git(Path(repo), "rev-parse", f"refs/tags/{tree.info.tag}^{{commit}}").decode().strip()
    assert sorted((path, path.stat().st_mtime_ns) for path in Path(repo).rglob("*")) == before
