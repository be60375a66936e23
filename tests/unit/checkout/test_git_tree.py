# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartographer.checkout.blob_ids import blob_id
from cartographer.checkout.git import Git, find_git_dir
from cartographer.checkout.git_tree import GitTree, parse_listing, resolve
from cartographer.errors import CheckoutError, UnknownVersion
from cartographer.model.source import Availability, SourceKind
from cartographer.processes import beside

from .conftest import FILES, LIST, commit, git, write


def tree_of(folder: Path, version: str) -> GitTree:
    git_dir = find_git_dir(folder)
    assert git_dir is not None
    return GitTree(git_dir, resolve(Git(git_dir), version, "x"), "x")


@pytest.mark.parametrize("version", ["v9.0.0", "9.0.0", "refs/tags/v9.0.0"])
def test_a_tag_is_read_though_a_branch_has_its_name(repository: Path, version: str) -> None:
    tree = tree_of(repository, version)
    assert tree.info.commit == git(repository, "rev-parse", "refs/tags/v9.0.0^{commit}")
    assert (tree.info.kind, tree.info.version, tree.info.tag) == (SourceKind.GIT, "9.0.0", "v9.0.0")
    assert [file.path for file in tree.files()] == sorted(git(repository, "ls-tree", "-r", "--name-only", "refs/tags/v9.0.0").split())
    listed = {file.path: file for file in tree.files()}
    for path, data in tree.read_many(listed):
        assert (listed[path].blob, listed[path].size) == (blob_id(data), len(data))


def test_a_copy_of_the_process_reads_beside_us(repository: Path) -> None:
    tree = tree_of(repository, "v9.0.0")
    paths = [file.path for file in tree.files()]
    whole = dict(tree.read_many(paths))
    assert set(whole) == set(paths)
    theirs = beside(lambda: [dict(tree.read_many(paths)) for _ in range(100)])
    assert all(dict(tree.read_many(paths)) == whole for _ in range(100))
    assert all(found == whole for found in theirs.result())


def test_a_commit_that_no_tag_names(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    for version in ("main", "HEAD", head, head[:9]):
        info = tree_of(repository, version).info
        assert info.commit == head
        assert info.version == f"9.1.0a0+git{head[:7]}"
    tagged = git(repository, "rev-parse", "refs/tags/v9.1.0")
    assert tree_of(repository, tagged).info.tag == "v9.1.0"


def test_an_unknown_tag_names_near_misses(repository: Path) -> None:
    with pytest.raises(UnknownVersion) as caught:
        tree_of(repository, "v9.1.3")
    assert "v9.1.0" in (caught.value.hint or "")
    with pytest.raises(UnknownVersion):
        tree_of(repository, "f" * 40)


def test_the_working_tree_is_not_looked_at(repository: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(repository, "clone", "-q", str(repository), str(clone))
    (clone / LIST).write_bytes(b"edited")
    before = sorted((clone / ".git").rglob("*"))
    assert tree_of(clone, "v9.1.0").read(LIST) == FILES[LIST]
    assert sorted((clone / ".git").rglob("*")) == before


def test_links_submodules_and_strange_names(tmp_path: Path) -> None:
    folder = write(tmp_path / "pytorch", {**FILES, "torch/caf\u00e9 x.py": b"", "torch/tab\there.py": b"", "torch/new\nline.py": b""})
    git(folder, "init", "-q")
    (folder / "torch/link.py").symlink_to("/etc/passwd")
    git(folder, "add", "-A")
    git(folder, "update-index", "--add", "--cacheinfo", "160000,1234567890123456789012345678901234567890,third_party/sub")
    git(folder, "commit", "-q", "-m", "all")
    tree = tree_of(folder, "HEAD")
    names = [file.path for file in tree.files()]
    assert {"torch/caf\u00e9 x.py", "torch/tab\there.py", "torch/new\nline.py"} <= set(names)
    assert not {"torch/link.py", "third_party/sub"} & set(names)
    assert tree.availability("torch/link.py") is Availability.ABSENT


def test_a_missing_blob_is_told_and_the_rest_goes_on(repository: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(repository, "clone", "-q", "--no-local", str(repository), str(clone))
    head = commit(clone, {"torch/lost.py": b"lost\n"})
    lost = blob_id(b"lost\n")
    (clone / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    tree = tree_of(clone, head)
    assert tree.availability("torch/lost.py") is Availability.MISSING_BLOB
    assert tree.missing() == ("torch/lost.py",)
    assert [path for path, _ in tree.read_many(["torch/lost.py", LIST])] == [LIST]
    with pytest.raises(CheckoutError, match="lacks the content"):
        tree.read("torch/lost.py")
    with pytest.raises(CheckoutError, match="no such file"):
        tree.read("torch/never.py")


def test_a_blobless_clone_says_how_to_complete_it(server: str, tmp_path: Path) -> None:
    clone = tmp_path / "blobless"
    git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", server, str(clone))
    with pytest.raises(CheckoutError, match="blobless") as caught:
        tree_of(clone, "v9.1.0")
    assert "--refetch" in (caught.value.hint or "")


def test_a_replaced_object_is_read_as_it_was(repository: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(repository, "clone", "-q", str(repository), str(clone))
    fake = git(clone, "hash-object", "-w", "--stdin", data=b"fake\n")
    git(clone, "replace", blob_id(FILES[LIST]), fake)
    assert tree_of(clone, "v9.1.0").read(LIST) == FILES[LIST]


def test_what_is_no_pytorch_is_told(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, {"README": b"other\n"})
    with pytest.raises(CheckoutError, match=r"not a PyTorch tree: looked for .*native_functions.yaml"):
        tree_of(tmp_path, "HEAD")


def test_listings_leave_out_paths_that_leave_the_tree() -> None:
    blob = b"a" * 40
    lines = [b"100644 blob %s %7d\t%s" % (blob, 3, path) for path in (b"ok.py", b"../up", b"/abs", b"a/../b", b"a//b", b"c:x", b"\xff.py")]
    lines.append(b"100644 blob %s     BAD\tgone.py" % blob)
    lines.append(b"120000 blob %s       3\tlink" % blob)
    listing = parse_listing(b"\0".join(lines) + b"\0")
    assert [file.path for file in listing.files] == ["gone.py", "ok.py", "\ufffd.py"]
    assert listing.missing == {"gone.py"}


@given(st.one_of(st.binary(max_size=200), st.lists(st.binary(max_size=60)).map(b"\0".join)))
def test_listings_take_anything(data: bytes) -> None:
    parse_listing(data)
