# SPDX-License-Identifier: BSD-3-Clause
"""What a clone lacks is said, and the rest is right."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from cartographer.errors import HistoryError
from cartographer.history.strata import date_tree
from cartographer.progress import SilentProgress

from .conftest import Repo, owners, text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture
def grown(repo: Repo) -> Repo:
    """Ten commits over two files, one of them renamed on the way."""
    for number in range(10):
        repo.commit(a=text(*range(number + 1)), **({"old": text(*range(50, 70))} if number == 1 else {}))
        if number == 4:
            repo.git("mv", "old", "new")
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    return repo


def clone(repo: Repo, target: Path, *flags: str) -> Path:
    subprocess.run(["git", "clone", "-q", *flags, f"file://{repo.folder}", str(target)], check=True, capture_output=True)
    return target


def test_no_git(tmp_path: Path) -> None:
    strata = date_tree(tmp_path, "HEAD")
    assert (strata.level, strata.files) == ("none", {})
    assert "no git clone" in strata.reason


def test_no_such_revision(grown: Repo) -> None:
    with pytest.raises(HistoryError, match=r"no commit called 'v9\.9'"):
        date_tree(grown.folder, "v9.9")


def test_full_bare_clone(grown: Repo, tmp_path: Path) -> None:
    expected = grown.check()
    assert date_tree(clone(grown, tmp_path / "bare", "--bare"), "HEAD") == expected
    assert expected.reason == ""


def test_shallow(grown: Repo, tmp_path: Path) -> None:
    shallow = clone(grown, tmp_path / "shallow", "--depth=3")
    strata = date_tree(shallow, "HEAD")
    full = grown.check()
    assert strata.level == "lines"
    ends = [strata.commits[number] for number in strata.boundary]
    assert ends == [(grown.git("rev-parse", "HEAD~2"), "2017-07-22")]
    assert "before 2017-07-22" in strata.reason
    assert "--unshallow" in strata.reason
    assert owners(strata, "a")[-2:] == owners(full, "a")[-2:]
    assert set(owners(strata, "a")[:8]) == {ends[0][0]}
    assert strata.files["a"].born is None  # then or long before
    assert strata.files["new"].changed is None


def test_shallow_then_whole(grown: Repo, tmp_path: Path) -> None:
    target, cache = clone(grown, tmp_path / "shallow", "--depth=3"), tmp_path / "cache"
    date_tree(target, "HEAD", cache_dir=cache)
    subprocess.run(["git", "fetch", "-q", "--unshallow"], cwd=target, check=True, capture_output=True)
    assert date_tree(target, "HEAD", cache_dir=cache) == grown.check()


@pytest.mark.parametrize("bare", [True, False])
def test_blobless(grown: Repo, tmp_path: Path, bare: bool) -> None:
    target = clone(grown, tmp_path / "blobless", "--filter=blob:none", *(["--bare"] if bare else []))
    before = objects(target)
    progress = SilentProgress()
    strata = date_tree(target, "HEAD", progress=progress)
    assert objects(target) == before  # nothing was fetched
    assert strata.level == "files"
    assert "fetch --refetch --no-filter" in strata.reason
    assert strata.reason in progress.notes
    assert {path: (f.born, f.changed, f.former_names, f.runs) for path, f in strata.files.items()} == {
        path: (f.born, f.changed, f.former_names, ()) for path, f in grown.check().files.items()
    }


def test_blobless_made_whole(grown: Repo, tmp_path: Path) -> None:
    target, cache = clone(grown, tmp_path / "blobless", "--filter=blob:none", "--bare"), tmp_path / "cache"
    assert date_tree(target, "HEAD", cache_dir=cache).level == "files"
    subprocess.run(["git", "fetch", "-q", "--refetch", "--no-filter"], cwd=target, check=True, capture_output=True)
    assert date_tree(target, "HEAD", cache_dir=cache) == grown.check()


def test_treeless(grown: Repo, tmp_path: Path) -> None:
    target = clone(grown, tmp_path / "treeless", "--filter=tree:0", "--bare")
    before = objects(target)
    strata = date_tree(target, "HEAD")
    assert objects(target) == before
    assert strata.level == "none"
    assert "not the folders of the past" in strata.reason


def test_treeless_with_a_short_history_of_many_files(repo: Repo, tmp_path: Path) -> None:
    """The folders of the past are few among all objects, and the last ones are here: those of the tip were checked out."""
    repo.commit(**{f"f{number}": text(number) for number in range(80)})
    repo.commit(f0=text(1, 2))
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    target = clone(repo, tmp_path / "treeless", "--filter=tree:0")
    before = objects(target)
    strata = date_tree(target, "HEAD")
    assert objects(target) == before
    assert (strata.level, strata.files) == ("none", {})
    assert "not the folders of the past" in strata.reason


def test_file_dates_on_demand(grown: Repo) -> None:
    strata = date_tree(grown.folder, "HEAD", level="files")
    assert (strata.level, strata.reason) == ("files", "")
    assert strata.files["new"].former_names == ("old",)


def objects(target: Path) -> str:
    return subprocess.run(["git", "cat-file", "--batch-all-objects", "--batch-check"], cwd=target, check=True, capture_output=True).stdout.decode()


def remove(repo: Repo, rev: str) -> str:
    blob = repo.git("rev-parse", rev)
    (repo.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    return blob


def test_missing_version_in_the_middle(repo: Repo, tmp_path: Path) -> None:
    first = repo.commit(a=text(1, 2, 3), b=text(4))
    repo.commit(a=text(1, "lost", 3), b=text(4, 5))
    third = repo.commit(a=text(1, "lost", 3, "found"), b=text(4, 5, 6))
    last = repo.commit(a=text(1, "lost", 3, "found", 9))
    full = repo.check()
    remove(repo, "HEAD~2:a")
    for _ in range(2):  # the second time from what is kept
        strata = date_tree(repo.folder, "HEAD", cache_dir=tmp_path / "cache")
        assert owners(strata, "a") == [first, None, first, None, last]
        assert owners(strata, "b") == owners(full, "b")
        assert third in owners(strata, "b")
        assert "2 lines of 1 files" in strata.reason
        for kept in (tmp_path / "cache").glob("*.strata"):
            kept.unlink()


def test_missing_first_version(repo: Repo) -> None:
    repo.commit(a=text(1, 2))
    repo.commit(a=text(1, 2, 3))
    last = repo.commit(a=text(1, 2, 3, 4))
    remove(repo, "HEAD~2:a")
    assert owners(date_tree(repo.folder, "HEAD"), "a") == [None, None, None, last]


def test_missing_last_version(repo: Repo) -> None:
    repo.commit(a=text(1, 2), b=text(1))
    repo.commit(a=text(1, 2, 3))
    full = repo.check()
    remove(repo, "HEAD:a")
    strata = date_tree(repo.folder, "HEAD")
    assert strata.files["a"].runs == ()
    assert strata.files["a"].changed == full.files["a"].changed
    assert owners(strata, "b") == owners(full, "b")


def test_missing_blob_that_left_no_line(repo: Repo) -> None:
    repo.commit(a=text(1, 2), gone=text(*range(30)))
    (repo.folder / "gone").unlink()
    repo.commit(b=text(7))
    full = repo.check()
    remove(repo, "HEAD~1:gone")
    assert date_tree(repo.folder, "HEAD") == full


def test_missing_blob_beside_a_rename(repo: Repo) -> None:
    repo.commit(a=text(*range(20)), x=text(1))
    repo.git("mv", "a", "b")
    repo.commit(b=text(*range(21)), x=text(1, 2))
    full = repo.check()
    remove(repo, "HEAD~1:x")
    strata = date_tree(repo.folder, "HEAD")
    assert owners(strata, "b") == owners(full, "b")
    assert owners(strata, "x") == [None, None]


def test_missing_blob_that_came_back(repo: Repo, tmp_path: Path) -> None:
    repo.commit(a=text(1, 2))
    repo.commit(a=text(1, 2, 3))
    full = repo.check()
    blob = remove(repo, "HEAD~1:a")
    date_tree(repo.folder, "HEAD", cache_dir=tmp_path / "cache")
    assert repo.git("hash-object", "-w", "--stdin", data=text(1, 2).encode()) == blob
    repo.git("repack", "-q", "-a", "-d")
    assert date_tree(repo.folder, "HEAD", cache_dir=tmp_path / "cache") == full


def test_a_date_that_was_guessed_for_want_of_a_version_is_not_kept_for_whole_clones(repo: Repo, tmp_path: Path) -> None:
    """All lines have a date, a wrong one: without the older file nobody sees that it was renamed."""
    repo.commit(a=text(*range(20)))
    repo.git("mv", "a", "b")
    second = repo.commit(b=text(*range(21)))
    full = repo.check()
    remove(repo, "HEAD~1:a")
    assert owners(date_tree(repo.folder, "HEAD", cache_dir=tmp_path / "cache"), "b") == [second] * 21
    repo.git("hash-object", "-w", "--stdin", data=text(*range(20)).encode())
    assert date_tree(repo.folder, "HEAD", cache_dir=tmp_path / "cache") == full


def test_a_last_version_that_one_clone_lacks_is_read_in_another(repo: Repo, tmp_path: Path) -> None:
    repo.commit(a=text(1, 2))
    repo.commit(b=text(1))
    repo.check(rev="HEAD~1", cache_dir=tmp_path / "cache")
    (tmp_path / "cache" / "blobs.pairs").unlink()
    full = repo.check()
    remove(repo, "HEAD:a")
    assert date_tree(repo.folder, "HEAD", cache_dir=tmp_path / "cache").files["a"].runs == ()
    repo.git("hash-object", "-w", "--stdin", data=text(1, 2).encode())
    assert date_tree(repo.folder, "HEAD", cache_dir=tmp_path / "cache") == full


@pytest.mark.parametrize(("depth", "itself"), [(99, False), (3, True)])
def test_promised_contents_that_are_missing_are_asked_of_the_objects_alone(repo: Repo, tmp_path: Path, depth: int, itself: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the clone itself git goes through all that was ever promised, for each of them: half a minute in PyTorch's history. The end of a shallow
    clone is told by the clone itself.
    """
    from cartographer.checkout import git as program

    for number in range(200):
        repo.put(f"small/{number}", f"{number}\n")
    for number in range(1, 8):
        repo.commit(a=text(*range(number)), b=text(*range(number * (300 if number == 4 else 1))))
    repo.git("config", "uploadpack.allowFilter", "true")
    target = clone(repo, tmp_path / "partial", "--filter=blob:limit=4k", "--bare", f"--depth={depth}")
    asked: dict[str, set[object]] = {}
    command = program.Git.command

    def listen(self: program.Git, arguments: Sequence[str]) -> list[str]:
        for word in arguments:
            if word in {"cat-file", "diff", "diff-tree"}:
                asked.setdefault(word, set()).add(self.git_dir == target)
        return command(self, arguments)

    monkeypatch.setattr(program.Git, "command", listen)
    strata = date_tree(target, "HEAD")
    assert asked["diff-tree"] == asked["cat-file"] == {itself}
    assert len(owners(strata, "a")) == 7
    if not itself:
        assert owners(strata, "a") == repo.blame("a")
