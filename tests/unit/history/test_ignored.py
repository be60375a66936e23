# SPDX-License-Identifier: BSD-3-Clause
"""Commits of `.git-blame-ignore-revs` pass their lines on, as `git blame --ignore-revs-file` has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.history.ignored import matches
from cartographer.history.strata import date_tree

from .conftest import Repo, owners, text

if TYPE_CHECKING:
    from pathlib import Path

_CODE = """int add(int a,int b){
return a+b;
}
void nothing(){}
int multiply(int a,int b){return a*b;}
"""
_FORMATTED = """int add(int a, int b) {
  return a + b;
}
void nothing() {}
int multiply(int a, int b) {
  return a * b;
}
"""


def test_lines_go_to_the_most_similar() -> None:
    assert matches([b"alpha beta", b"gamma delta"], [b"  alpha  beta", b"", b"  gamma delta"]) == [(0, 0), (2, 1)]
    assert matches([b"x = f(a, b)"], [b"x = f(", b"  a, b)"]) == [(0, 0), (1, 0)]
    assert matches([b"one"], [b"zwei"]) == []
    assert matches([], [b"new"]) == []


def test_formatting_is_passed_over(repo: Repo) -> None:
    first = repo.commit(**{"a.cpp": _CODE, "b": text(*range(5))})
    second = repo.commit(**{"a.cpp": _CODE.replace("a*b", "b*a")})
    formatted = repo.commit(**{"a.cpp": _FORMATTED.replace("a * b", "b * a")})
    repo.commit(**{".git-blame-ignore-revs": f"# clang-format\n{formatted}  # all of it\n{'0' * 40}\n"})
    strata = repo.check(flags=("--ignore-revs-file=.git-blame-ignore-revs",))
    found = owners(strata, "a.cpp")
    assert found[:2] == [first] * 2
    assert found[3:5] == [first, second]  # its old text stands in another hunk


def test_new_text_in_an_ignored_commit_stays_with_it(repo: Repo) -> None:
    repo.commit(a="alpha\n")
    ignored = repo.commit(a="alpha\n0123456789\n", b="made by it\n")
    repo.commit(**{".git-blame-ignore-revs": f"{ignored}\n"})
    strata = repo.check(flags=("--ignore-revs-file=.git-blame-ignore-revs",))
    assert owners(strata, "a")[1] == ignored


def test_the_list_of_the_dated_tree_counts(repo: Repo) -> None:
    first = repo.commit(a="if(x)y();\n")
    ignored = repo.commit(a="if (x) y();\n")
    repo.commit(**{".git-blame-ignore-revs": f"{ignored}\n"})
    assert owners(repo.check(rev="HEAD~1"), "a") == [ignored]
    assert owners(repo.check(flags=("--ignore-revs-file=.git-blame-ignore-revs",)), "a") == [first]


def test_what_a_clone_lacks_is_nothing_for_another(repo: Repo, tmp_path: Path) -> None:
    """The patches of the older commits are kept, the list of ignored ones is new: a clone that lost a content asks first."""
    repo.commit(a="if(x)y();\n")
    ignored = repo.commit(a="if (x) y();\n")
    repo.check(cache_dir=tmp_path)
    repo.commit(**{".git-blame-ignore-revs": f"{ignored}\n"})
    blob = repo.git("rev-parse", "HEAD~2:a")
    place = repo.folder / ".git/objects" / blob[:2] / blob[2:]
    lost = place.rename(tmp_path / "lost")
    assert owners(date_tree(repo.folder, "HEAD", cache_dir=tmp_path), "a") == [ignored]
    lost.rename(place)
    repo.check(flags=("--ignore-revs-file=.git-blame-ignore-revs",), cache_dir=tmp_path)


def test_renamed_and_formatted_in_one_commit(repo: Repo) -> None:
    body = text(*range(20))
    first = repo.commit(a=body)
    repo.git("mv", "a", "b")
    ignored = repo.commit(b=body.replace("line 3 ", "  line  3 "))
    repo.commit(**{".git-blame-ignore-revs": f"{ignored}\n"})
    strata = repo.check(flags=("--ignore-revs-file=.git-blame-ignore-revs",))
    assert set(owners(strata, "b")) == {first}
