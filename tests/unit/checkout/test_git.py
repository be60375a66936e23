# SPDX-License-Identifier: BSD-3-Clause
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartographer.checkout.blob_ids import blob_id
from cartographer.checkout.blob_reader import BlobReader, parse_batch_header
from cartographer.checkout.git import (
    FetchStep,
    Git,
    GitError,
    environment,
    failure,
    find_git_dir,
    objects_of,
    progress_parser,
)
from cartographer.errors import CheckoutError

from .conftest import FILES, LIST, commit, git, write


def test_gits_own_words_are_passed_on(repository: Path) -> None:
    with pytest.raises(GitError, match="not-a-ref") as caught:
        Git(repository / ".git").run("cat-file", "blob", "not-a-ref")
    assert "fatal" in caught.value.stderr


def test_a_full_disk_is_named() -> None:
    error = failure(["-c", "x=y", "fetch", "origin"], "error: file write error: No space left on device\n", Path("/store"))
    assert "disk is full" in (error.hint or "")
    assert error.message.startswith("git fetch failed")


def test_git_is_told_when_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CheckoutError, match="not installed"):
        Git().run("version")


def test_the_callers_git_variables_do_not_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -i key")
    assert "GIT_DIR" not in environment(network=True)
    assert environment(network=True)["GIT_SSH_COMMAND"] == "ssh -i key"
    assert "GIT_SSH_COMMAND" not in environment(network=False)
    assert environment(network=False)["GIT_ALLOW_PROTOCOL"] == "none"
    assert "ext" not in environment(network=True)["GIT_ALLOW_PROTOCOL"]


def test_find_git_dir(repository: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(repository, "clone", "-q", "--bare", str(repository), str(bare))
    tree = tmp_path / "worktree"
    git(bare, "worktree", "add", "-q", "--detach", str(tree), "refs/tags/v9.1.0")
    assert find_git_dir(repository) == repository / ".git"
    assert find_git_dir(bare) == bare
    found = find_git_dir(tree)
    assert found is not None
    assert found.parent == bare / "worktrees"
    assert find_git_dir(found) == found  # as a repository of its own, though it holds no objects
    assert find_git_dir(repository / "torch") is None  # inside a clone is not a clone
    assert find_git_dir(tmp_path) is None


def test_blobs_are_read_in_order_and_missing_ones_told(repository: Path) -> None:
    reader = BlobReader(objects_of(repository / ".git"))
    known = [blob_id(FILES[LIST]), blob_id(FILES["torch/__init__.py"])]
    asked = [*known, "1" * 40, "bad"] * 150
    answers = list(reader.read_many(asked))
    assert [blob for blob, _ in answers] == asked
    assert [data for _, data in answers[:4]] == [FILES[LIST], b"x = 1\n", None, None]
    reader.close()


def test_the_view_of_the_objects_is_gone_with_its_process(repository: Path, tmp_path: Path) -> None:
    """Also with a copy that makes the first one."""
    program = """
import sys
from pathlib import Path
from cartographer.checkout.git import objects_of
from cartographer.processes import beside
def ask():
    view = objects_of(Path(sys.argv[1]))
    assert view.git_dir == objects_of(Path(sys.argv[1])).git_dir
    assert view.text("cat-file", "-t", sys.argv[2]) == "blob"
    return str(view.git_dir)
print(beside(ask).result(), ask())
"""
    words = [str(repository / ".git"), blob_id(FILES[LIST])]
    told = subprocess.run([sys.executable, "-c", program, *words], env=os.environ | {"TMPDIR": str(tmp_path)}, capture_output=True, text=True, check=True)
    assert len({Path(folder).parent for folder in told.stdout.split()}) == 1
    assert len(set(told.stdout.split())) == 2
    assert list(tmp_path.glob("cartographer-view-*")) == []


def test_a_view_that_was_cleared_away_is_made_again(repository: Path) -> None:
    first = objects_of(repository / ".git").git_dir
    assert first is not None
    shutil.rmtree(first)
    assert objects_of(repository / ".git").text("cat-file", "-t", blob_id(FILES[LIST])) == "blob"


def test_an_abandoned_read_does_not_spoil_the_next(repository: Path) -> None:
    reader = BlobReader(objects_of(repository / ".git"))
    one, two = blob_id(FILES[LIST]), blob_id(b"x = 1\n")
    next(reader.read_many([one, two, one]))
    assert reader.read(two) == b"x = 1\n"
    reader.close()


def test_ctrl_c_does_not_end_the_git_that_answers(repository: Path) -> None:
    """The terminal sends it to the whole group. Were git to end by it, the rest would look as if the clone lacked it."""
    program = """
import os, signal, sys
from pathlib import Path
from cartographer.checkout.blob_reader import BlobReader
from cartographer.checkout.git import objects_of
reader = BlobReader(objects_of(Path(sys.argv[1])))
assert reader.read(sys.argv[2])
git = reader._child
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.killpg(0, signal.SIGINT)
assert reader.read(sys.argv[2])
assert reader._child is git
reader.close()
"""
    subprocess.run([sys.executable, "-c", program, str(repository / ".git"), blob_id(FILES[LIST])], start_new_session=True, check=True)


def test_a_damaged_object_costs_only_itself(repository: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(repository, "clone", "-q", "--no-local", str(repository), str(clone))
    good, bad = blob_id(b"good\n"), blob_id(b"bad\n")
    commit(clone, {"good": b"good\n", "bad": b"bad\n"})
    loose = clone / ".git" / "objects" / bad[:2] / bad[2:]
    loose.chmod(0o644)
    loose.write_bytes(zlib.compress(b"blob 4\0b")[:-6])
    reader = BlobReader(objects_of(clone / ".git"))
    assert [data for _, data in reader.read_many([good, bad, good])] == [b"good\n", None, b"good\n"]
    reader.close()


def test_nothing_of_a_hostile_repository_runs(tmp_path: Path) -> None:
    from cartographer.checkout.cache import Cache
    from cartographer.checkout.directory import DirectoryTree
    from cartographer.checkout.git_tree import GitTree, resolve
    from cartographer.checkout.history_access import of_clone

    trap = tmp_path / "trap"
    folder = write(tmp_path / "pytorch", FILES)
    git(folder, "init", "-q")
    commit(folder, {})
    script = tmp_path / "evil"
    script.write_text(f"#!/bin/sh\necho caught >> {trap}\n")
    script.chmod(0o755)
    for key in (
        "core.fsmonitor", "core.sshCommand", "core.gitProxy", "core.pager", "core.editor", "diff.external", "core.alternateRefsCommand",
        "filter.x.smudge", "filter.x.clean", "diff.x.textconv", "gpg.program", "core.askPass", "credential.helper", "remote.origin.uploadpack",
    ):
        git(folder, "config", key, str(script))
    git(folder, "config", "remote.origin.url", f"ext::{script}")
    git(folder, "config", "remote.origin.promisor", "true")
    (folder / ".gitattributes").write_text("* filter=x diff=x\n")
    hooks = folder / ".git" / "hooks"
    for name in ("post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc"):
        (hooks / name).write_text(script.read_text())
        (hooks / name).chmod(0o755)
    git_dir = find_git_dir(folder)
    assert git_dir is not None
    tree = GitTree(git_dir, resolve(Git(git_dir), "HEAD", "x"), "x")
    assert tree.read(LIST) == FILES[LIST]
    assert BlobReader(Git(git_dir)).read("3" * 40) is None  # not fetched from the promised remote
    assert of_clone(git_dir, tree.commit).commit == tree.commit
    assert DirectoryTree(folder, Cache(tmp_path / "cache")).info.commit == tree.commit
    assert not trap.exists()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a file to someone else")
def test_a_clone_of_someone_else_is_read(tmp_path: Path) -> None:
    folder = write(tmp_path / "pytorch", FILES)
    git(folder, "init", "-q")
    commit(folder, {})
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, 12345, 12345)
    assert Git(find_git_dir(folder)).text("rev-list", "--count", "HEAD") == "1"


def test_progress_lines() -> None:
    steps: list[FetchStep] = []
    read = progress_parser(steps.append)
    read("Receiving objects:  45% (450/1000), 12.00 MiB | 3.00 MiB/s")
    read("remote: Counting objects: 7, done.")
    read("Resolving deltas: 100% (3/3), done.")
    assert steps[0].what == "receiving"
    assert (steps[0].done, steps[0].total) == (450, 1000)
    assert steps[-1] == FetchStep("resolving", 3, 3, steps[-1].remark)


@given(st.text(max_size=200))
def test_progress_takes_anything(line: str) -> None:
    progress_parser(lambda _: None)(line)


@given(st.one_of(st.binary(max_size=80), st.integers(0, 10**20).map(lambda n: b"%s blob %d\n" % (b"a" * 40, n))))
def test_batch_headers_take_anything(line: bytes) -> None:
    size = parse_batch_header(line)
    assert size is None or size >= 0


def test_an_absurd_count_is_passed_over() -> None:
    progress_parser(lambda _: None)(f"Receiving objects: 100% ({'9' * 400}/{'9' * 400})")
