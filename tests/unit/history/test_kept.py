# SPDX-License-Identifier: BSD-3-Clause
"""What is kept between runs: answers, slices, differences of blobs; and that damage to it does no harm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cartographer.errors import CheckoutError
from cartographer.history import kept, plumbing
from cartographer.history.patch import ADDED, Change
from cartographer.history.slices import Slices, write_whole
from cartographer.history.strata import date_tree
from cartographer.model.atlas import Era, FileDates, Import, Strata

from .conftest import text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .conftest import Repo


def test_round_trip(tmp_path: Path) -> None:
    strata = Strata(
        "lines", "why", (("a" * 40, "2020-01-01"),),
        {"naïve \ufffd": FileDates("naïve \ufffd", "2020-01-01", None, ("old",), ((3, 0), (1, -1)))},
        (Era("e", "2012-01-01", "2013-01-01", (("what", "b" * 40, "2012-01-01"),)),), (0,), ("v1.0",), (-1,),
        (Import("c" * 40, "2020-01-01", "tree", "f", 1, 2, 3, "subject", "reason", vendored=True),), ("third_party",),
    )  # fmt: skip
    kept.save(tmp_path / "x", strata)
    assert kept.load(tmp_path / "x") == strata


@pytest.mark.parametrize("damage", [b"", b"junk", b"x\x9c"])
def test_damaged_answers_count_as_none(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "x").write_bytes(damage)
    assert kept.load(tmp_path / "x") is None
    assert kept.load(tmp_path / "none") is None


def test_write_whole_leaves_nothing_behind_when_it_fails(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_whole(tmp_path / "x", "text")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_slices_are_found_by_commit_and_parent(tmp_path: Path) -> None:
    one, two, other = b"1" * 40, b"2" * 40, b"3" * 40
    Slices(tmp_path).add([one, two], [[Change(ADDED, b"a", blob=b"x", hunks=b"123")], []])
    Slices(tmp_path, "7 objects").add([other], [[]], holds=False)
    again = Slices(tmp_path)
    assert again.changes(one) == [Change(ADDED, b"a", blob=b"x", hunks=b"123")]
    assert again.changes(two) == []
    assert again.changes(other) is None
    assert Slices(tmp_path, "7 objects").changes(other) == []
    assert Slices(tmp_path, "8 objects").changes(other) is None


def test_a_cut_off_slice_is_read_again(repo: Repo, tmp_path: Path) -> None:
    repo.commit(a=text(1, 2))
    repo.commit(a=text(1, 2, 3))
    expected = repo.check(cache_dir=tmp_path)
    (piece,) = tmp_path.glob("*.slice")
    for answer in tmp_path.glob("*.strata"):
        answer.unlink()
    piece.write_bytes(piece.read_bytes()[:-7])
    assert date_tree(repo.folder, "HEAD", cache_dir=tmp_path) == expected


def test_damaged_lines_and_hunks_are_asked_for_again(repo: Repo, tmp_path: Path) -> None:
    repo.commit(a=text(*range(9)), b=text(*range(20, 29)))
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(a=text("s", *range(9)))
    repo.git("checkout", "-q", "main")
    repo.commit(a=text(*range(9), "m"))
    repo.merge("side", resolve={"a": text("s", *range(9), "m")})
    expected = repo.check(cache_dir=tmp_path)
    pairs = tmp_path / "blobs.pairs"
    whole = pairs.read_bytes()

    def dated() -> Strata:
        for answer in tmp_path.glob("*.strata"):
            answer.unlink()
        return date_tree(repo.folder, "HEAD", cache_dir=tmp_path)

    for at in range(0, len(whole), 11):
        pairs.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert dated() == expected
        assert pairs.read_bytes() == whole
    pairs.unlink()
    pairs.mkdir()
    with pytest.raises(CheckoutError, match=r"cannot write.*: Is a directory"):
        dated()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CheckoutError, match="cannot write"):
        write_whole(tmp_path / "file" / "x", b"1")


def test_nothing_new_starts_no_walk(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(a=text(1))
    expected = repo.check(cache_dir=tmp_path)
    monkeypatch.setattr("cartographer.history.walks.by_lines", None)
    assert date_tree(repo.folder, "HEAD", cache_dir=tmp_path) == expected


def test_later_revision_asks_for_its_new_commits_only(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(a=text(1))
    repo.git("checkout", "-q", "-b", "release")
    repo.commit(a=text(1, "r"))
    repo.git("checkout", "-q", "main")
    repo.commit(a=text(0, 1))
    repo.check(rev="release", cache_dir=tmp_path)
    asked: list[bytes] = []
    ask = plumbing.Asker.ask

    def listen(asker: plumbing.Asker, lines: bytes) -> Iterator[bytes]:
        asked.append(lines)
        return ask(asker, lines)

    monkeypatch.setattr(plumbing.Asker, "ask", listen)
    repo.check(rev="main", cache_dir=tmp_path)
    assert b"".join(asked).split() == [repo.git("rev-parse", rev).encode() for rev in ("main", "main~1")]


def test_a_stopped_run_goes_on(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        repo.commit(a=text(*range(number)))
    monkeypatch.setattr("cartographer.history.stream._LARGEST", 3)

    class Stop:
        def __init__(self) -> None:
            self.steps = 0

        def stage(self, name: str, total: int | None = None) -> None: ...
        def note(self, text: str) -> None: ...
        def close(self) -> None: ...
        def step(self, done: int = 1) -> None:
            self.steps += done
            if self.steps >= 6:
                raise KeyboardInterrupt

    monkeypatch.setattr("cartographer.history.walks._STRIDE", 1)
    with pytest.raises(KeyboardInterrupt):
        date_tree(repo.folder, "HEAD", cache_dir=tmp_path, progress=Stop(), workers=1)
    assert len(list(tmp_path.glob("*.slice"))) >= 2
    repo.check(cache_dir=tmp_path)


def test_one_worker_or_many_give_the_same(repo: Repo) -> None:
    for number in range(20):
        repo.commit(a=text(*range(number)), b=text(*range(number, 30)))
    assert date_tree(repo.folder, "HEAD", workers=1) == date_tree(repo.folder, "HEAD", workers=4)
