# SPDX-License-Identifier: BSD-3-Clause
import os
import time
from pathlib import Path

import pytest

from cartographer.checkout import directory
from cartographer.checkout.blob_ids import UNREADABLE, BlobIds, Identity, blob_id
from cartographer.checkout.cache import Cache
from cartographer.checkout.directory import DirectoryTree
from cartographer.errors import CheckoutError
from cartographer.model.source import Availability, SourceKind

from .conftest import FILES, LIST, git, write

OLD = time.time() - 1000


def old(folder: Path) -> Path:
    """Old time stamps, so that ids are remembered."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            os.utime(path, (OLD, OLD))
    return folder


def test_files_have_gits_ids_and_the_bytes_on_disk(tmp_path: Path, cache: Cache) -> None:
    tree = DirectoryTree(write(tmp_path / "pytorch-v9.1.2", FILES), cache)
    assert [file.path for file in tree.files()] == sorted(FILES)
    assert {file.path: file.blob for file in tree.files()} == {path: blob_id(data) for path, data in FILES.items()}
    assert dict(tree.read_many(["nothing", LIST])) == {LIST: FILES[LIST]}
    assert (tree.info.kind, tree.info.version, tree.info.tag, tree.info.commit) == (SourceKind.DIRECTORY, "9.1.2", "v9.1.2", None)
    assert tree.availability("torch/none.py") is Availability.ABSENT


def test_blob_ids_are_gits(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    for data in (b"", b"x\r\n", bytes(range(256)) * 50):
        assert blob_id(data) == git(tmp_path, "hash-object", "--no-filters", "--stdin", data=data)


def test_what_builds_leave_and_links_are_left_out(tmp_path: Path, cache: Cache) -> None:
    folder = write(tmp_path / "pytorch", {
        **FILES, "build/lib/x.py": b"", "torch/__pycache__/x.pyc": b"", ".git/config": b"", "venv/pyvenv.cfg": b"", "venv/x.py": b"",
        "torch/build/kept.py": b"", ".gitmodules": b'[submodule "a"]\n\tpath = third_party/a\n', "third_party/a/x.cpp": b"", "third_party/b.txt": b"",
    })
    (folder / "torch/up.py").symlink_to("/etc/passwd")
    (folder / "torch/around").symlink_to(folder)
    os.mkfifo(folder / "torch/pipe.py")
    (folder / ".git").rename(folder / ".hg")
    tree = DirectoryTree(folder, cache)
    assert {file.path for file in tree.files()} == {*FILES, "torch/build/kept.py", ".gitmodules", "third_party/b.txt"}


def test_a_file_that_becomes_a_link_is_not_followed(tmp_path: Path, cache: Cache) -> None:
    folder = write(tmp_path / "pytorch", FILES)
    tree = DirectoryTree(folder, cache)
    (folder / LIST).unlink()
    (folder / LIST).symlink_to("/etc/passwd")
    assert list(tree.read_many([LIST])) == []
    assert tree.availability(LIST) is Availability.MISSING_BLOB
    with pytest.raises(CheckoutError, match="cannot be read"):
        tree.read(LIST)


def test_an_unchanged_file_is_not_read_again(tmp_path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    # The change time cannot be set back, so the guard against fresh files is moved instead.
    monkeypatch.setattr("cartographer.checkout.blob_ids._RACE", -10**12)
    folder = old(write(tmp_path / "pytorch", FILES))
    first = DirectoryTree(folder, cache).files()
    read: list[str] = []
    original = directory.read_regular
    monkeypatch.setattr(directory, "read_regular", lambda path: read.append(path) or original(path))
    assert DirectoryTree(folder, cache).files() == first
    assert [path for path in read if not path.endswith(("version.txt", ".gitmodules"))] == []
    write(folder, {"torch/__init__.py": b"x = 2\n"})  # same size
    assert {f.path: f.blob for f in DirectoryTree(folder, cache).files()}["torch/__init__.py"] == blob_id(b"x = 2\n")


def test_fresh_files_are_not_remembered(tmp_path: Path, cache: Cache) -> None:
    path = write(tmp_path, {"x": b"1"}) / "x"
    ids = BlobIds(cache, "place")
    ids.remember("x", path.stat(), Identity(blob_id(b"1"), 1))
    ids.save()
    assert BlobIds(cache, "place").known("x", path.stat()) is None


@pytest.mark.parametrize("damage", [b"", b"\xff" * 50, b"\x93\x03", b"\x93\x03\xa5place\x81"])
def test_a_damaged_memory_is_an_empty_one(tmp_path: Path, cache: Cache, damage: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cartographer.checkout.blob_ids._RACE", -10**12)
    folder = write(tmp_path / "pytorch", FILES)
    first = DirectoryTree(folder, cache).files()
    for kept in (cache.root / "blob-ids").iterdir():
        kept.write_bytes(damage)
    assert DirectoryTree(folder, cache).files() == first


def test_a_checkout_knows_its_commit_and_shows_edits(repository: Path, tmp_path: Path, cache: Cache) -> None:
    clone = tmp_path / "clone"
    git(repository, "clone", "-q", str(repository), str(clone))
    write(clone, {LIST: b"edited\n", "torch/new_kernel.cu": b"new\n", "torch/ignored.o": b"", ".gitignore": b"*.o\n"})
    (clone / "torch/m1.py").unlink()
    tree = DirectoryTree(clone, cache)
    head = git(clone, "rev-parse", "HEAD")
    assert (tree.info.commit, tree.info.version) == (head, f"9.1.0a0+git{head[:7]}")
    assert tree.read(LIST) == b"edited\n"
    paths = {file.path for file in tree.files()}
    assert "torch/new_kernel.cu" in paths
    assert not {"torch/ignored.o", "torch/m1.py"} & paths
    git(clone, "checkout", "-q", "-f", "refs/tags/v9.0.0")
    assert DirectoryTree(clone, cache).info.tag == "v9.0.0"


def test_a_tree_inside_another_repository_is_no_checkout_of_it(tmp_path: Path, cache: Cache) -> None:
    git(tmp_path, "init", "-q")
    assert DirectoryTree(write(tmp_path / "sources" / "pytorch-9.1.0", FILES), cache).info.commit is None


def test_errors_say_what_was_looked_for(tmp_path: Path, cache: Cache) -> None:
    with pytest.raises(CheckoutError, match="no such folder"):
        DirectoryTree(tmp_path / "none", cache)
    with pytest.raises(CheckoutError, match=r"looked for aten/src/ATen/native/native_functions.yaml and torch/__init__.py"):
        DirectoryTree(tmp_path, cache)
    unversioned = write(tmp_path / "x", {path: data for path, data in FILES.items() if path != "version.txt"})
    with pytest.raises(CheckoutError, match=r"version.txt"):
        DirectoryTree(unversioned, cache)


def test_an_unreadable_file_is_told(tmp_path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    original = directory.read_regular

    def refuse(path: str) -> bytes:
        if path.endswith("Thing.h"):
            raise PermissionError(13, "Permission denied")
        return original(path)

    monkeypatch.setattr(directory, "read_regular", refuse)
    tree = DirectoryTree(write(tmp_path / "pytorch", FILES), cache)
    assert tree.missing() == ("c10/core/Thing.h",)
    assert {file.path: file.blob for file in tree.files()}["c10/core/Thing.h"] == UNREADABLE


def test_a_checkout_with_a_damaged_index_is_read_all_the_same(repository: Path, tmp_path: Path, cache: Cache) -> None:
    clone = tmp_path / "clone"
    git(repository, "clone", "-q", str(repository), str(clone))
    (clone / ".git" / "index").write_bytes(b"DIRC garbage")
    tree = DirectoryTree(clone, cache)
    assert tree.read(LIST) == FILES[LIST]
    assert not any(file.path.startswith(".git/") for file in tree.files())
