# SPDX-License-Identifier: BSD-3-Clause
"""Line dates against `git blame`, one trap of git histories a test."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from cartographer.history.lines import kept, patched, runs
from cartographer.history.strata import date_tree

from .conftest import Repo, owners, text

if TYPE_CHECKING:
    from pathlib import Path


def test_hunks_put_in_take_out_and_replace() -> None:
    lines = array("I", [1, 1, 1, 1])
    hunks = array("I", (0, 1, 1, 1, 3, 2, 1, 5, 0)).tobytes()  # a line before all, two for the second, the last gone
    assert list(patched(lines, hunks, 9)) == [9, 1, 9, 9, 1]
    assert list(lines) == [1, 1, 1, 1]


def test_kept_gives_only_the_owners_lines_away() -> None:
    assert list(kept(array("I", [1, 2]), b"", 9, array("I", [9, 5]))) == [1, 5]


def test_runs() -> None:
    assert runs(array("I", [3, 3, 1, 3])) == [(2, 3), (1, 1), (1, 3)]
    assert runs(array("I")) == []


def test_edits_and_dates(repo: Repo) -> None:
    first = repo.commit(a=text(1, 2, 3, 4, 5))
    second = repo.commit(a=text(0, 1, 2, "x", 4, 5))
    repo.commit(b="new\n")
    strata = repo.check()
    assert set(owners(strata, "a")) == {first, second}
    dates = strata.files["a"]
    assert (dates.born, dates.changed, dates.former_names) == ("2017-07-15", "2017-07-16", ())
    assert dict(strata.commits)[first] == "2017-07-15"


def test_chain_of_renames(repo: Repo) -> None:
    repo.commit(a=text(*range(20)))
    repo.git("mv", "a", "b")
    repo.commit(b=text(*range(20), "b"))
    (repo.folder / "d").mkdir()
    repo.git("mv", "b", "d/c")
    repo.commit()
    strata = repo.check()
    assert strata.files["d/c"].former_names == ("a", "b")
    assert strata.files["d/c"].born == "2017-07-15"
    assert strata.files["d/c"].changed == "2017-07-16"


def test_swap_of_two_names(repo: Repo) -> None:
    repo.commit(a=text(*range(10)), b=text(*range(50, 70)))
    repo.commit(a=text(*range(50, 70)), b=text(*range(10)))
    repo.commit(a=text(*range(50, 71)))
    repo.check()


def test_rename_over_a_deleted_name(repo: Repo) -> None:
    repo.commit(a=text(*range(20)), b=text(*range(30, 50)))
    (repo.folder / "b").unlink()
    repo.git("mv", "a", "b")
    repo.commit(c=text(*range(30, 50)))
    repo.check()


def test_merge_of_two_branches(repo: Repo) -> None:
    repo.commit(a=text(*range(20)))
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(a=text("s", *range(20)), s="side\n")
    repo.git("checkout", "-q", "main")
    repo.commit(a=text(*range(20), "m"))
    repo.merge("side")
    repo.check()


def test_merge_with_a_conflict_settled_by_hand(repo: Repo) -> None:
    repo.commit(a=text(1, 2, 3))
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(a=text(1, "side", 3))
    repo.git("checkout", "-q", "main")
    repo.commit(a=text(1, "main", 3))
    repo.merge("side", resolve={"a": text(1, "side", "main", "both", 3)})
    repo.check()


def test_merge_that_takes_the_other_side_whole(repo: Repo) -> None:
    repo.commit(a=text(1, 2, 3))
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(a=text(1, "side", 3, 4))
    repo.git("checkout", "-q", "main")
    repo.commit(a=text(1, "main", 3))
    repo.merge("side", resolve={"a": text(1, "side", 3, 4)})
    repo.check()


def test_subtree_merge_of_another_root(repo: Repo) -> None:
    repo.commit(torch__a="torch\n")
    repo.git("checkout", "-q", "--orphan", "th")
    repo.git("rm", "-q", "-rf", ".")
    repo.commit(TH=text(*range(10)), generic__TH=text(*range(20, 40)))
    repo.commit(TH=text(*range(11)))
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "-s", "ours", "--no-commit", "--allow-unrelated-histories", "th")
    repo.git("read-tree", "--prefix=lib/th/", "-u", "th")
    repo.put("lib/th/generic/TH", text(*range(20, 40), "edited in the merge"))
    joined = repo.commit("joins")
    repo.commit(lib__th__TH=text(*range(12)))
    strata = repo.check()
    assert strata.files["lib/th/TH"].former_names == ("TH",)
    assert ("history", joined, "lib/th") in {(i.kind, i.commit, i.folder) for i in strata.imports}


def test_rename_in_a_merged_branch_meets_an_edit(repo: Repo) -> None:
    repo.commit(a=text(*range(30)))
    repo.git("checkout", "-q", "-b", "side")
    repo.git("mv", "a", "b")
    repo.commit(b=text(*range(30), "side"))
    repo.git("checkout", "-q", "main")
    repo.commit(a=text("main", *range(30)))
    repo.merge("side")
    repo.check()


def test_octopus(repo: Repo) -> None:
    repo.commit(a=text(1), b=text(2), c=text(3))
    for name in "abc":
        repo.git("checkout", "-q", "-b", f"side-{name}", "main")
        repo.commit(**{name: text(name, "more")})
    repo.git("checkout", "-q", "main")
    repo.commit(d=text(4))
    repo.merge("side-a", "side-b", "side-c")
    repo.check()


def test_criss_cross(repo: Repo) -> None:
    repo.commit(a=text(*range(20)))
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(a=text("s", *range(20)))
    repo.git("checkout", "-q", "main")
    repo.commit(a=text(*range(20), "m"))
    repo.git("branch", "old-main")
    repo.merge("side")
    repo.git("checkout", "-q", "side")
    repo.merge("old-main")
    repo.commit(a=text("s2", "s", *range(20), "m"))
    repo.git("checkout", "-q", "main")
    repo.merge("side")
    repo.check()


def test_source_that_the_pairing_gave_to_another_file(repo: Repo) -> None:
    body = list(range(40))
    repo.commit(a=text(*body))
    (repo.folder / "a").unlink()
    repo.commit(b=text(*body, 1), c=text(*body[:30], *range(90, 100)))
    strata = repo.check()
    assert len(set(owners(strata, "c"))) == 2
    assert strata.files["c"].former_names == ("a",)


def test_type_change(repo: Repo) -> None:
    repo.commit(a=text(1, 2), b=text(3, 4))
    (repo.folder / "a").unlink()
    (repo.folder / "a").symlink_to("b")
    repo.commit()
    (repo.folder / "a").unlink()
    repo.commit(a=text(1, 2))
    repo.check()


def test_carriage_returns_form_feeds_and_no_line_break_at_the_end(repo: Repo) -> None:
    repo.commit(a=b"one\r\ntwo\r\nthree\x0cthree\x0b\xc2\x85\n", b=b"no end", c=b"\n\n\n")
    repo.commit(a=b"one\ntwo\r\nthree\x0cthree\x0b\xc2\x85\nfour", b=b"no end\n", c=b"\n\n")
    repo.commit(b=b"no end\nmore", d=b"")
    repo.commit(a=b"one\ntwo\r\nthree\x0cthree\x0b\xc2\x85\nfour\nfive", d=b"-- a line\n++ another\n@@ -1 +1 @@\n")
    repo.commit(d=b"++ another\n@@ -1 +1 @@\ndiff --git a/x b/x\n")
    repo.check()


def test_binary_that_becomes_text(repo: Repo) -> None:
    repo.commit(a=b"\0\1\2\nx\n" * 20, b=text(1, 2))
    repo.commit(a=text(*range(5)), b=b"\0" + text(1, 2).encode())
    strata = repo.check(rev="HEAD~0")
    assert strata.files["b"].runs == ()


def test_names_that_git_must_quote(repo: Repo) -> None:
    for name in ("sp ace", 'quo"te', "tab\there", "new\nline", "naïve", "back\\slash", " b", "a b/a b"):
        repo.put(name, text(1, name.encode().hex()))
    repo.commit()
    for name in ("sp ace", 'quo"te', "tab\there", "new\nline", "naïve", "back\\slash"):
        repo.put(name, text(1, name.encode().hex(), 3))
    repo.commit()
    repo.git("mv", "tab\there", "moved\there")
    repo.commit()
    strata = repo.check()
    assert strata.files["moved\there"].former_names == ("tab\there",)


def test_name_that_is_no_utf8(repo: Repo) -> None:
    repo.commit(a="x\n")
    blob = repo.git("hash-object", "-w", "--stdin", data=b"one\ntwo\n")
    repo.git("update-index", "--index-info", data=f"100644 {blob}\tcaf".encode() + b"\xe9\n")
    repo.day += 1
    repo.git("commit", "-q", "-m", "latin")
    strata = date_tree(repo.folder, "HEAD")
    assert owners(strata, "caf\ufffd") == [repo.git("rev-parse", "HEAD")] * 2


def test_submodules_have_no_lines(repo: Repo) -> None:
    first = repo.commit(a="x\n")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{first},third_party/x")
    repo.day += 1
    repo.git("commit", "-q", "-m", "submodule")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{repo.git('rev-parse', 'HEAD')},third_party/x")
    repo.git("commit", "-q", "-m", "submodule again")
    assert sorted(date_both(repo)) == ["a"]


def date_both(repo: Repo) -> list[str]:
    lines, files = (date_tree(repo.folder, "HEAD", level=level) for level in ("lines", "files"))
    assert sorted(lines.files) == sorted(files.files)
    return list(lines.files)


def test_settings_and_attributes_of_the_repository_do_not_matter(repo: Repo) -> None:
    repo.commit(**{"a.py": text(*range(20)), "b": text(*range(40, 60)) + "\n\n"})
    repo.git("mv", "a.py", "c.py")
    repo.git("mv", "b", "d")
    repo.commit(**{"c.py": text(*range(20), "x"), "d": text("y", *range(40, 60)) + "\n"})
    expected = {path: repo.blame(path) for path in ["c.py", "d"]}
    repo.put(".gitattributes", "*.py binary\n* diff=upper\n")
    for setting in ("diff.noprefix true", "diff.algorithm patience", "diff.renames false", "diff.external false", "diff.context 9",
                    "diff.suppressBlankEmpty true", "diff.upper.textconv tr a-z A-Z", "diff.interHunkContext 5", "color.diff always",
                    "diff.orderFile nowhere", "diff.renameLimit 1", "blame.ignoreRevsFile nowhere", "diff.upper.command false",
                    "diff.mnemonicPrefix true", "diff.indentHeuristic false", "core.bigFileThreshold 1"):  # fmt: skip
        repo.git("config", *setting.split(" ", 1))
    strata = date_tree(repo.folder, "HEAD")
    assert {path: owners(strata, path) for path in strata.files} == expected


def test_replaced_objects_do_not_matter(repo: Repo) -> None:
    first = repo.commit(a=text(1, 2))
    second = repo.commit(a=text(1, 2, 3))
    blob = repo.git("hash-object", "-w", "--stdin", data=b"forged\n")
    repo.git("replace", repo.git("rev-parse", f"{first}:a"), blob)
    repo.git("checkout", "-q", "--orphan", "fake")
    fake = repo.commit(a="nothing\n")
    repo.git("replace", first, fake)
    repo.git("checkout", "-q", "-f", "main")
    assert owners(repo.check(rev=second), "a") == [first, first, second]


def test_tag_named_as_a_branch(repo: Repo) -> None:
    tagged = repo.commit(a=text(1))
    repo.git("tag", "v1.0")
    repo.git("checkout", "-q", "-b", "v1.0")
    repo.commit(a=text(1, 2))
    assert owners(date_tree(repo.folder, "v1.0"), "a") == [tagged]


def test_linked_work_tree(repo: Repo, tmp_path: Path) -> None:
    repo.commit(a=text(1))
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    assert date_tree(tmp_path / "linked", "HEAD").files == repo.check().files


def test_sha256_repository(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo", "--object-format=sha256")
    repo.commit(a=text(1, 2))
    repo.commit(a=text(1, 2, 3))
    expected = repo.check(cache_dir=tmp_path / "cache")
    for answer in (tmp_path / "cache").glob("*.strata"):
        answer.unlink()
    assert repo.check(cache_dir=tmp_path / "cache") == expected
