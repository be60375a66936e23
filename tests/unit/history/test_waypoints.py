# SPDX-License-Identifier: BSD-3-Clause
"""Places at which a walk is taken up again: by what histories, and by which not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cartographer.history import waypoints
from cartographer.history.strata import date_tree
from cartographer.history.waypoints import Waypoints

from .conftest import text

if TYPE_CHECKING:
    from pathlib import Path

    from cartographer.history.state import Walk
    from cartographer.model.atlas import Strata

    from .conftest import Repo


@pytest.fixture(autouse=True)
def taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many commits each walk had behind it when it began."""
    monkeypatch.setattr(waypoints, "APART", 1)
    monkeypatch.setattr(waypoints, "BACK", 3)
    found: list[int] = []
    take_up = Waypoints.take_up

    def listen(self: Waypoints, walk: Walk) -> int:
        found.append(take_up(self, walk))
        return found[-1]

    monkeypatch.setattr(Waypoints, "take_up", listen)
    return found


def dated(repo: Repo, rev: str, cache: Path) -> Strata:
    found = date_tree(repo.folder, rev, cache_dir=cache)
    assert found == date_tree(repo.folder, rev)
    return found


def grow(repo: Repo, name: str, commits: int) -> None:
    for number in range(commits):
        repo.commit(**{name: text(*range(number + 1))})


def test_a_later_release_goes_on_where_an_earlier_one_left_the_main_line(repo: Repo, tmp_path: Path, taken: list[int]) -> None:
    grow(repo, "torch__a", 6)
    repo.git("checkout", "-q", "-b", "release/1")
    grow(repo, "torch__r", 2)
    repo.git("checkout", "-q", "main")
    grow(repo, "c10__b", 4)
    cache = tmp_path / "cache"
    first = dated(repo, "release/1", cache)
    later = dated(repo, "main", cache)
    assert taken[::2] == [0, 5]  # three before the tip; the walks between have no cache
    assert [era.first for era in later.eras][: len(first.eras)] == [era.first for era in first.eras]
    repo.git("checkout", "-q", "release/1")
    grow(repo, "torch__p", 2)
    dated(repo, "release/1", cache)
    assert taken[-2] == 8  # a patch release: all of the release before


def test_a_branch_from_before_that_is_merged_after_makes_it_another_history(repo: Repo, tmp_path: Path, taken: list[int]) -> None:
    grow(repo, "a", 3)
    repo.git("branch", "side")
    grow(repo, "b", 6)
    dated(repo, "main", tmp_path / "cache")
    repo.git("checkout", "-q", "side")
    grow(repo, "s", 2)
    repo.git("checkout", "-q", "main")
    repo.merge("side")
    dated(repo, "main", tmp_path / "cache")
    assert taken[-2] == 0


def test_what_it_was_left_with_must_hold_still(repo: Repo, tmp_path: Path, taken: list[int]) -> None:
    """A commit that is to be ignored from now on, and a damaged file."""
    grow(repo, "a", 8)
    cache = tmp_path / "cache"
    dated(repo, "main", cache)
    repo.commit(b="b\n")
    dated(repo, "main", cache)
    assert taken[-2] == 8
    repo.put(".git-blame-ignore-revs", repo.git("rev-parse", "main~6") + "\n")
    repo.commit()
    dated(repo, "main", cache)
    assert taken[-2] == 0
    for place in cache.glob("*.walk"):
        place.write_bytes(place.read_bytes()[:-9])
    repo.commit(b="c\n")
    dated(repo, "main", cache)
    assert taken[-2] == 0


def test_few_are_kept(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waypoints, "_MOST", 3)
    for _ in range(4):
        grow(repo, "a", 2)
        dated(repo, "main", tmp_path / "cache")
    assert len(list((tmp_path / "cache").glob("*.walk"))) == 3


def test_what_was_missing_may_have_come_in(repo: Repo, tmp_path: Path, taken: list[int]) -> None:
    """A waypoint whose lines are not all known holds for as many objects as there were."""
    grow(repo, "a", 5)
    blob = repo.git("rev-parse", "main~2:a")
    away = repo.folder / ".git/objects" / blob[:2] / blob[2:]
    kept = away.rename(tmp_path / "blob")
    cache = tmp_path / "cache"
    date_tree(repo.folder, "main", cache_dir=cache)
    kept.rename(away)
    dated(repo, "main", cache)
    assert taken[:2] == [0, 2]  # from before it was missing, and not the last one


def test_what_a_clone_with_gaps_has_guessed_is_no_waypoint_of_a_whole_one(repo: Repo, tmp_path: Path, taken: list[int]) -> None:
    """All lines have a date, a wrong one: without the older file nobody sees that it was renamed. Nor is an answer that goes on from there."""
    repo.commit(a=text(*range(20)))
    repo.git("mv", "a", "b")
    repo.commit(b=text(*range(21)))
    grow(repo, "c", 4)
    cache = tmp_path / "cache"
    blob = repo.git("rev-parse", "main~5:a")
    lost = repo.folder / ".git/objects" / blob[:2] / blob[2:]
    kept = lost.rename(tmp_path / "blob")
    date_tree(repo.folder, "main~1", cache_dir=cache)
    date_tree(repo.folder, "main", cache_dir=cache)
    assert taken == [0, 5]  # the same clone as it is goes on
    kept.rename(lost)
    dated(repo, "main", cache)
    assert taken[2] == 0
