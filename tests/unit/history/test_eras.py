# SPDX-License-Identifier: BSD-3-Clause
"""Eras, releases and imports, found by rule in small histories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cartographer.checkout import refs
from cartographer.history import imports, releases
from cartographer.history.notes import Bulk
from cartographer.history.plumbing import Git
from cartographer.history.strata import date_tree

from .conftest import text

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Repo


@pytest.fixture
def torch(repo: Repo) -> Repo:
    """TH is older than PyTorch and joins it; then come ATen, Caffe2 (with a history of its own) and c10."""
    repo.commit("th", TH="th\n")
    repo.git("branch", "-m", "th")
    repo.git("checkout", "-q", "--orphan", "main")
    repo.git("rm", "-q", "-rf", ".")
    repo.commit("begin", torch__init="torch\n")
    repo.git("merge", "-q", "-s", "ours", "--no-commit", "--allow-unrelated-histories", "th")
    repo.git("read-tree", "--prefix=torch/lib/TH/", "-u", "th")
    repo.commit("join th")
    repo.commit("aten", torch__lib__ATen__x="aten\n")
    repo.git("checkout", "-q", "--orphan", "c2")
    repo.git("rm", "-q", "-rf", ".")
    repo.commit("caffe2", caffe2__core="caffe2\n")
    repo.git("checkout", "-q", "main")
    repo.day += 1
    repo.git("merge", "-q", "--no-ff", "--allow-unrelated-histories", "-m", "join caffe2", "c2")
    repo.commit("c10", c10__core="c10\n")
    return repo


def test_eras_are_proved_by_commits(torch: Repo) -> None:
    strata = date_tree(torch.folder, "HEAD")
    assert [(era.name, era.first, era.last) for era in strata.eras] == [
        ("Torch7 and TH", "2017-07-15", "2017-07-15"),
        ("PyTorch begins", "2017-07-16", "2017-07-17"),
        ("ATen", "2017-07-18", "2017-07-19"),
        ("Caffe2 joins", "2017-07-20", "2017-07-20"),
        ("c10 and TorchScript", "2017-07-21", "2017-07-21"),
    ]
    evidence = {what: torch.git("log", "-1", "--format=%s", commit) for era in strata.eras for what, commit, _ in era.evidence}
    assert evidence == {
        "oldest root of the history": "th",
        "first commit of torch/": "begin",
        "joins with its history: torch/lib/TH": "join th",
        "first commit of torch/lib/ATen/": "aten",
        "first commit of caffe2/": "join caffe2",
        "joins with its history: caffe2": "join caffe2",
        "first commit of c10/": "c10",
    }


def test_eras_without_blobs_are_the_same(torch: Repo) -> None:
    assert date_tree(torch.folder, "HEAD", level="files").eras == date_tree(torch.folder, "HEAD").eras


def test_shallow_clones_have_eras_without_proof(torch: Repo, tmp_path: Path) -> None:
    torch.git("clone", "-q", "--depth=1", f"file://{torch.folder}", str(tmp_path / "shallow"))
    strata = date_tree(tmp_path / "shallow", "HEAD")
    assert [(era.name, era.evidence) for era in strata.eras] == [("Torch7 and TH", ()), ("PyTorch begins", ()), ("ATen", ())]


def test_first_release_of_each_commit(repo: Repo) -> None:
    for tag in ("v0.1.0", "v0.2.0-rc1", "v0.2.0", "nightly"):
        repo.commit(tag, **{tag.replace(".", "_"): text(tag)})
        repo.git("tag", *(["-a", "-m", "x"] if tag == "v0.2.0" else []), tag)
    repo.git("checkout", "-q", "-b", "release", "HEAD~1")
    repo.commit("picked", picked=text("p"))
    repo.git("tag", "v0.2.1")
    repo.git("checkout", "-q", "main")
    repo.commit("unreleased", unreleased=text("u"))
    strata = date_tree(repo.folder, "HEAD")
    assert strata.releases == ("v0.1.0", "v0.2.0", "v0.2.1")
    found = {repo.git("log", "-1", "--format=%s", commit): strata.first_release[n] for n, (commit, _) in enumerate(strata.commits)}
    assert found == {"v0.1.0": 0, "v0.2.0-rc1": 1, "v0.2.0": 1, "nightly": -1, "unreleased": -1}


def test_release_beside_the_history(repo: Repo) -> None:
    shared = repo.commit(a=text(1))
    repo.git("checkout", "-q", "-b", "release")
    repo.commit(b=text(2))
    repo.git("tag", "v0.1.0")
    repo.git("checkout", "-q", "main")
    tip = repo.commit(c=text(3))
    strata = date_tree(repo.folder, "HEAD")
    assert [strata.first_release[[c for c, _ in strata.commits].index(commit)] for commit in (shared, tip)] == [0, -1]


def test_tags_of_trees_are_no_releases(repo: Repo) -> None:
    repo.commit(a=text(1))
    repo.git("tag", "v1.0", "HEAD^{tree}")
    repo.git("tag", "v2.0")
    assert [name for name, _ in releases.tags(Git(repo.folder / ".git"))] == ["v2.0"]


def test_releases_are_what_they_are_everywhere(repo: Repo) -> None:
    names = ["v1.0.0.post10", "v1.0.0.post2", "v1.0.0", "v1.0.0-rc1", "v1.0.1", "v1.0.0post3", "v1.post2", "v\N{ARABIC-INDIC DIGIT ONE}.0"]
    for number, name in enumerate(names):
        repo.commit(a=text(number))
        repo.git("tag", name)
    found = [name for name, _ in releases.tags(Git(repo.folder / ".git"))]
    assert found == sorted(filter(refs.is_release, names), key=refs.release_order) == ["v1.0.0", "v1.0.0.post2", "v1.0.0post3", "v1.0.0.post10", "v1.0.1"]


def test_imports_are_told_from_writing(repo: Repo) -> None:
    body = text(*range(3500))
    repo.commit("Write a large test", test__big=body)
    licence = repo.commit("Fork of a library", **{"aten__q/LICENSE": "MIT\n", "aten__q/a.c": body + "a\n", "aten__q/b.c": "b\n"})
    says = repo.commit("Open source the small ops (#1)", ops__x=body + "x\n")
    repo.commit("Add a third party", **{"third_party/v/v.h": body + "v\n"})
    strata = date_tree(repo.folder, "HEAD")
    told = {i.commit: i for i in strata.imports}
    assert [i.subject for i in strata.imports] == ["Fork of a library", "Open source the small ops (#1)", "Add a third party"]
    assert (told[licence].folder, told[licence].files, told[licence].lines, told[licence].surviving) == ("aten/q", 3, 3503, 3503)
    assert told[licence].vendored
    assert not told[says].vendored
    assert "Open source" in told[says].reason
    assert strata.vendored == ("aten/q", "third_party")


def test_reasons() -> None:
    assert imports._reason(Bulk(12_000, 1, "a"), "Generated file") == ""
    assert imports._reason(Bulk(12_000, 5, "a"), "Add OpenCL") == "12000 lines in 5 new files at once"
    assert imports._reason(Bulk(3_000, 5, "a"), "Remove sync points at many places") == ""
    assert imports._reason(Bulk(3_000, 5, "a"), "Important kernels") == ""


@pytest.mark.parametrize(("tags", "expected"), [
    (("v0.1.0", "v0.2.0"), [0, 1]), (("v0.2.0", "v0.3.0"), [-1, 1]), (("v1.13.1", "v2.0.0"), [-1, 1]), (("v2.0.0",), [-1]), (("v0.0.1",), [0]),
])  # fmt: skip
def test_no_release_is_claimed_when_the_series_before_is_missing(repo: Repo, tags: tuple[str, ...], expected: list[int]) -> None:
    for tag in tags:
        repo.commit(**{tag.replace(".", "_"): text(tag)})
        repo.git("tag", tag)
    assert list(date_tree(repo.folder, "HEAD").first_release) == expected


def test_a_shallow_clone_has_no_imports_where_it_ends(repo: Repo, tmp_path: Path) -> None:
    repo.commit("begin", LICENSE="x\n", big=text(*range(4000)))
    repo.commit("more", a=text(1))
    repo.git("clone", "-q", "--depth=1", f"file://{repo.folder}", str(tmp_path / "shallow"))
    assert date_tree(tmp_path / "shallow", "HEAD").imports == ()
