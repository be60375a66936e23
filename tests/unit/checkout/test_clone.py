# SPDX-License-Identifier: BSD-3-Clause
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartographer.checkout import clone as clone_module
from cartographer.checkout.cache import Cache
from cartographer.checkout.clone import DEFAULT_URL, Store, Unreachable, parse_raw, store_path
from cartographer.errors import CheckoutError, UnknownVersion
from cartographer.model.source import HistoryLevel
from cartographer.progress import SilentProgress

from .conftest import commit, git, make_repository

NONE, FILES, LINES = HistoryLevel.NONE, HistoryLevel.FILES, HistoryLevel.LINES


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The repository is small, so the steps are too."""
    monkeypatch.setattr(clone_module, "_FIRST_SLICE", 6)
    monkeypatch.setattr(clone_module, "_MOST_SLICE", 12)
    monkeypatch.setattr(clone_module, "_BATCH", 9)


def store(cache: Cache, url: str) -> Store:
    made = Store(cache, url, SilentProgress())
    made.prepare()
    return made


def here(path: Path, commit_id: str) -> tuple[int, int]:
    """(commits, contents) that are lacking of a whole history: (0, 0) when all of it is here."""
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
    listed = subprocess.run(
        ["git", "--git-dir", str(path), "rev-list", "--objects", "--missing=print", commit_id], capture_output=True, check=True, env=environment,
    ).stdout
    shallow = (path / "shallow").read_text().split() if (path / "shallow").exists() else []
    reached = git(path, "rev-list", commit_id).split()
    return len(set(shallow) & set(reached)), listed.count(b"\n?") + listed.startswith(b"?")


@pytest.mark.parametrize("level", [NONE, FILES, LINES])
def test_each_level_brings_what_it_says(cache: Cache, server: str, repository: Path, level: HistoryLevel) -> None:
    made = store(cache, server)
    wanted = made.ask("v9.1.0")
    made.bring(wanted, level)
    assert made.level(wanted.commit) is level
    cut, lacking = here(made.path, wanted.commit)
    assert (cut > 0, lacking > 0) == {NONE: (True, False), FILES: (False, True), LINES: (False, False)}[level]
    blobs = [line.split()[2] for line in git(repository, "ls-tree", "-r", "v9.1.0").splitlines()]
    assert "missing" not in git(made.path, "cat-file", "--batch-check", data="\n".join(blobs).encode())
    if level is not NONE:
        assert git(made.path, "rev-list", "--count", "refs/tags/v9.1.0") == git(repository, "rev-list", "--count", "v9.1.0")


def test_asking_for_more_adds_to_the_same_store(cache: Cache, server: str) -> None:
    made = store(cache, server)
    wanted = made.ask("v9.1.0")
    for level in (NONE, FILES, LINES):
        assert not made.is_complete(wanted.commit, level)
        made.bring(wanted, level)
        assert made.is_complete(wanted.commit, level)
    assert here(made.path, wanted.commit) == (0, 0)


@pytest.mark.parametrize("first", [NONE, FILES, LINES])
@pytest.mark.parametrize("second", [NONE, FILES, LINES])
def test_a_second_tag_in_the_same_store(cache: Cache, server: str, first: HistoryLevel, second: HistoryLevel) -> None:
    made = store(cache, server)
    one, two = made.ask("9.0.0"), made.ask("v9.1.0")
    made.bring(one, first)
    before = here(made.path, one.commit)
    made.bring(two, second)
    assert made.is_complete(two.commit, second)
    assert made.is_complete(one.commit, first)
    cut, lacking = here(made.path, two.commit)
    assert second is NONE or cut == 0
    assert second is not LINES or lacking == 0
    assert here(made.path, one.commit) <= before  # nothing was taken from the first


def objects(path: Path) -> set[str]:
    return set(git(path, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())


def packed(path: Path) -> int:
    return int(git(path, "count-objects", "-v").split("in-pack: ")[1].split()[0])


def test_a_second_tag_fetches_only_what_is_new(cache: Cache, server: str, repository: Path) -> None:
    made = store(cache, server)
    made.bring(made.ask("v9.0.0"), LINES)
    before, packed_before = objects(made.path), packed(made.path)
    assert git(made.path, "tag") == "v9.0.0\nv9.0.1-rc1\nv9.1.0", "the tags of all releases come along"
    assert git(made.path, "rev-list", "--count", "v9.1.0") == git(repository, "rev-list", "--count", "v9.1.0")
    made.bring(made.ask("v9.1.0"), LINES)
    needed = {line.split()[0] for line in git(repository, "rev-list", "--objects", "v9.1.0", "--not", "v9.0.0^{commit}").splitlines()}
    assert objects(made.path) - before <= needed
    assert needed <= objects(made.path)
    assert packed(made.path) - packed_before <= len(needed) + 10  # and the bases that a thin pack is completed with
    after = objects(made.path)
    made.bring(made.ask("v9.1.0"), LINES)
    assert objects(made.path) == after


def test_files_of_all_releases_come_with_history(cache: Cache, server: str, repository: Path) -> None:
    made = store(cache, server)
    made.bring(made.ask("v9.1.0"), FILES, lambda path: path in {"version.txt", "torch/m1.py"})
    older = {path: git(repository, "rev-parse", f"v9.0.0:{path}") for path in ("version.txt", "torch/m1.py", "torch/m2.py")}
    assert {path for path, blob in older.items() if blob in objects(made.path)} == {"version.txt", "torch/m1.py"}


def test_lines_after_a_tag_with_lines_and_one_with_files_alone(cache: Cache, server: str) -> None:
    made = store(cache, server)
    made.bring(made.ask("v9.0.0"), LINES)
    made.bring(made.ask("v9.0.1-rc1"), FILES)
    wanted = made.ask("v9.1.0")
    made.bring(wanted, LINES)
    assert here(made.path, wanted.commit) == (0, 0)


@pytest.mark.parametrize("level", [NONE, FILES, LINES])
def test_a_server_without_filters(cache: Cache, plain_server: str, level: HistoryLevel) -> None:
    made = store(cache, plain_server)
    wanted = made.ask("v9.1.0")
    made.bring(wanted, level)
    assert made.level(wanted.commit) is level
    assert here(made.path, wanted.commit)[1] == 0
    made.bring(made.ask("v9.0.0"), level)
    assert "promisor" not in git(made.path, "config", "--list")


def test_branches_commits_and_names_of_both(cache: Cache, server: str, repository: Path) -> None:
    made = store(cache, server)
    assert made.ask("v9.0.0").commit == git(repository, "rev-parse", "refs/tags/v9.0.0^{commit}")
    assert made.ask("main").commit == made.ask("HEAD").commit == git(repository, "rev-parse", "main")
    head = git(repository, "rev-parse", "main~2")
    made.bring(made.ask(head), FILES)
    found = made.find(head[:10])
    assert found is not None
    assert found.commit == head
    with pytest.raises(UnknownVersion) as caught:
        made.ask("v9.1.7")
    assert "v9.1.0" in (caught.value.hint or "")


def test_a_host_that_does_not_answer(cache: Cache, tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="git ls-remote failed"):
        Store(cache, (tmp_path / "nothing").as_uri(), SilentProgress()).ask("v9.1.0")


def test_no_other_transport_is_opened(cache: Cache, tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="not allowed"):
        Store(cache, f"ext::sh -c 'touch {tmp_path}/trap'", SilentProgress()).ask("v9.1.0")
    assert not (tmp_path / "trap").exists()


def test_what_a_killed_git_left_is_cleared(cache: Cache, server: str) -> None:
    made = store(cache, server)
    made.bring(made.ask("v9.0.0"), NONE)
    for left in ("shallow.lock", "config.lock", "packed-refs.lock", "refs/tags/v9.1.0.lock", "objects/pack/tmp_pack_x"):
        (made.path / left).write_text("")
    made.prepare()
    made.bring(made.ask("v9.1.0"), LINES)
    assert not list(made.path.rglob("*.lock"))
    assert not list(made.path.rglob("tmp_*"))


@pytest.mark.parametrize("fail_at", range(1, 8, 2))
def test_an_interrupted_fetch_goes_on(cache: Cache, server: str, monkeypatch: pytest.MonkeyPatch, fail_at: int) -> None:
    made = store(cache, server)
    wanted = made.ask("v9.1.0")
    original = Store._run_fetch
    calls: list[int] = []

    def interrupted(self: Store, *arguments: object, **options: object) -> list[str]:
        calls.append(1)
        if len(calls) == fail_at:
            raise KeyboardInterrupt
        return original(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "_run_fetch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.bring(wanted, LINES)
    assert not made.is_complete(wanted.commit, LINES)
    calls.append(1)
    before = len(calls)
    made.bring(wanted, LINES)
    again = len(calls) - before
    assert here(made.path, wanted.commit) == (0, 0)
    fresh = Store(Cache(cache.root / "other"), server, SilentProgress())
    fresh.prepare()
    before = len(calls)
    fresh.bring(wanted, LINES)
    assert again <= len(calls) - before - (fail_at - 1) + 1  # what had come was not fetched again


SCRIPT = """
import sys
from pathlib import Path
from cartographer.checkout import clone
from cartographer.checkout.open import HistoryLevel, SourceRequest, open_tree
from cartographer.progress import SilentProgress
clone._FIRST_SLICE, clone._MOST_SLICE, clone._BATCH = 6, 12, 9
open_tree(SourceRequest("v9.1.0", cache=Path(sys.argv[1]), url=sys.argv[2]), SilentProgress())
"""


def test_kill_at_any_moment(cache: Cache, server: str) -> None:
    moments = random.Random(5)
    for _ in range(4):
        child = subprocess.Popen([sys.executable, "-c", SCRIPT, str(cache.root), server], stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.1, 1.2))
        child.send_signal(signal.SIGKILL)
        child.wait()
    subprocess.run([sys.executable, "-c", SCRIPT, str(cache.root), server], check=True)
    made = Store(cache, server, SilentProgress())
    found = made.find("v9.1.0")
    assert found is not None
    assert made.level(found.commit) is LINES
    assert here(made.path, found.commit) == (0, 0)


def test_a_remote_that_is_itself_shallow_is_told(cache: Cache, repository: Path, tmp_path: Path) -> None:
    shallow = tmp_path / "shallow.git"
    git(tmp_path, "clone", "-q", "--bare", "--depth=5", repository.as_uri(), str(shallow))
    made = store(cache, shallow.as_uri())
    with pytest.raises(CheckoutError, match="no older history"):
        made.bring(made.ask("main"), FILES)


def test_a_branch_that_moved_is_followed(cache: Cache, tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "pytorch")
    made = store(cache, folder.as_uri())
    made.bring(made.ask("main"), FILES)
    head = commit(folder, {"torch/later.py": b"later\n"})
    made.bring(made.ask("main"), FILES)
    found = made.find("main")
    assert found is not None
    assert found.commit == head


def test_each_remote_has_its_store(cache: Cache) -> None:
    assert store_path(cache, DEFAULT_URL).name == store_path(cache, DEFAULT_URL + ".git").name == "pytorch.git"
    names = {store_path(cache, url).name for url in ("file:///a/pytorch", "file:///b/pytorch", "git@x.org:me/../pytorch.git", "file:///a/..")}
    assert len(names) == 4
    assert all("/" not in name for name in names)


def test_raw_differences() -> None:
    old, new = b"0" * 40, b"a" * 40
    output = b"\0".join([
        b":000000 100644 %s %s A" % (old, new), b"a b.py", b":100644 000000 %s %s D" % (new, old), b"gone", b":000000 160000 %s %s A" % (old, new), b"sub", b"",
    ])
    assert list(parse_raw(output)) == [(new, b"a b.py")]


@given(st.one_of(st.binary(max_size=200), st.lists(st.sampled_from([b":", b":000000 100644 " + b"0" * 40 + b" " + b"a" * 40 + b" A", b"x"])).map(b"\0".join)))
def test_raw_takes_anything(data: bytes) -> None:
    list(parse_raw(data))
