# SPDX-License-Identifier: BSD-3-Clause
"""Several releases in one folder: the list, plates of releases, lines of history, later additions, releases that fail."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from cartographer.checkout.cache import ENVIRONMENT, Cache
from cartographer.checkout.clone import Store
from cartographer.checkout.open import SourceRequest
from cartographer.cli import commands
from cartographer.errors import CartographerError, UsageError
from cartographer.pipeline import collection, lineage
from cartographer.pipeline.building import BuildRequest, build
from cartographer.pipeline.collection import build_all, refresh, shelf
from cartographer.progress import SilentProgress

TAGS = ("v0.1.0", "v0.2.0", "v0.3.0")
_LINK = re.compile(r'<(?:a|link|script)\b[^>]*?\b(?:href|src)=(?:"([^"]*)"|([^\s>"]+))')


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _home(cache, monkeypatch):
    monkeypatch.setenv("CARTOGRAPHER_CACHE", str(cache))


def requests(repo, *tags):
    return tuple(SourceRequest(version=tag, repo=str(repo)) for tag in tags)


@pytest.fixture(scope="module")
def root(mini_repo, cache, tmp_path_factory):
    """The first and the last release, and later the one between."""
    out = tmp_path_factory.mktemp("shelf") / "atlases"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CARTOGRAPHER_CACHE", str(cache))
        assert build_all(requests(mini_repo, "v0.3.0", "v0.1.0"), out, SilentProgress(), workers=1) == ()
        first = {path.relative_to(out): path.read_bytes() for path in out.glob("v0.*/**/*") if path.is_file()}
        assert build_all(requests(mini_repo, "v0.2.0"), out, SilentProgress(), workers=1) == ()
    changed = {str(path) for path, data in first.items() if (out / path).read_bytes() != data}
    assert changed <= {f"{tag}/{name}" for tag in TAGS for name in ("releases/index.html", ".pages.json")}, "an addition leaves pages alone"
    return out


def pages_of(root, part):
    """Address -> the releases that have it, as the switcher reads it."""
    tags = json.loads((root / "releases.js").read_text().partition("=")[2].partition(",ATLAS_PAGES")[0])
    groups = json.loads((root / "pages" / f"{part}.js").read_text().partition("=")[2].rstrip(";\n"))
    return {f"{folder}/{name}": {tags[n] for n in numbers} for numbers, folders in groups for folder, names in folders.items() for name in names.split(" ")}


def test_each_release_has_its_atlas_and_is_listed(root):
    listed = (root / "index.html").read_text()
    assert [path.name for path in shelf(root)] == [*TAGS]
    assert re.findall(r'<th scope=row><a href="(v[^/]*)/index.html', listed) == [*reversed(TAGS)]
    for tag in TAGS:
        assert (root / tag / "atlas.db").is_file()


def test_the_switcher_knows_which_release_has_which_page(root):
    operators = pages_of(root, "op")
    assert operators["op/mul"] == {*TAGS}
    assert operators["op/potrf"] == {"v0.1.0"}
    assert operators["op/cholesky"] == {"v0.2.0"} or "v0.2.0" in operators["op/cholesky"]
    for part in (path.stem for path in (root / "pages").iterdir()):
        for address, tags in pages_of(root, part).items():
            assert {tag for tag in TAGS if (root / tag / f"{address.lstrip('/')}.html").is_file()} == tags, address


def test_plates_compare_neighbours_and_link_both_atlases(root):
    middle = (root / "v0.2.0/releases/index.html").read_text()
    assert "<h1>0.1.0 to 0.2.0</h1>" in middle
    assert "kernels and Nodes of both atlases" in middle
    assert "../../v0.1.0/op/potrf.html#potrf" in middle  # gone: its page is in the older atlas
    assert "../../v0.3.0/releases/index.html" in middle
    assert "<h1>0.2.0 to 0.3.0</h1>" in (root / "v0.3.0/releases/index.html").read_text(), "drawn anew when the one between came"
    assert "nothing stands before it" in (root / "v0.1.0/releases/index.html").read_text()


def test_the_oldest_of_the_folder_keeps_what_its_build_compared(mini_repo, tmp_path):
    assert build_all(requests(mini_repo, "v0.2.0", "v0.3.0"), tmp_path, SilentProgress(), workers=1) == ()
    page = (tmp_path / "v0.2.0/releases/index.html").read_text()
    assert "<h1>0.1.0 to 0.2.0</h1>" in page, "the tag before it is no atlas here, but its list was read"
    assert "operator lists of both releases are compared" in page


def test_every_link_between_the_atlases_leads_somewhere(root):
    for page in (root / "index.html", *root.glob("v0.*/releases/index.html"), root / "v0.3.0/op/mul.html"):
        for link in {a or b for a, b in _LINK.findall(page.read_text())}:
            address, _, anchor = link.partition("#")
            if not link.startswith("https:") and address:
                target = page.parent / unquote(address)
                assert target.is_file(), f"{page} -> {link}"
                assert not anchor or re.search(rf'id="?{re.escape(unquote(anchor))}["\s>]', target.read_text()), f"{page} -> {link}"


def test_operators_say_since_when(root):
    assert "since v0.2.0" in (root / "v0.2.0/op/cholesky.html").read_text()
    assert "unknown before v0.1.0, as known when this page was drawn" in (root / "v0.1.0/op/relu.html").read_text()
    assert "gone v0.2.0" in (root / "v0.1.0/op/potrf.html").read_text()
    linked = re.search(r"<dt>History<dd>.*", (root / "v0.2.0/op/mul.html").read_text())[0]
    assert "releases/index.html#op-mul" in linked


def test_one_that_fails_does_not_lose_the_others(root, mini_repo):
    run = CliRunner().invoke(commands, ["build", "v0.3.0", "v9.9.9", "v8.8.8", "--repo", str(mini_repo), "--out", str(root), "-q"], standalone_mode=False)
    assert run.return_value == 1
    assert str(root / "v0.3.0/index.html") in run.stdout
    assert run.output.count("error:") == 2
    assert "v9.9.9: " in run.output


def test_progress_says_which_release_is_built_and_compares_none_after_a_fault(root, mini_repo, tmp_path):
    teller = SilentProgress()
    build_all(requests(mini_repo, "v0.2.0", "v9.9.9"), root, teller, workers=1)
    assert [name for name in teller.seconds if " of 2: " in name] == ["1 of 2: v0.2.0", "2 of 2: v9.9.9"]
    teller = SilentProgress()
    assert len(build_all(requests(mini_repo, "v9.9.9"), root, teller, workers=1)) == 1
    assert "comparing releases" not in teller.seconds
    assert not any("9.9.9" in name for name in teller.seconds)


def test_all_releases_of_a_repository(mini_repo, tmp_path):
    run = CliRunner().invoke(commands, ["build", "--all-releases", "--repo", str(mini_repo), "--out", str(tmp_path), "-q", "--no-html"], standalone_mode=False)
    assert run.return_value == 0, run.output
    assert [path.name for path in shelf(tmp_path)] == [*TAGS]
    assert "not drawn" in (tmp_path / "index.html").read_text()


def test_all_releases_offline_reach_no_network(mini_repo, tmp_path, monkeypatch):
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "cache"))
    address = mini_repo.as_uri()

    def build(out, *words):
        return CliRunner().invoke(commands, ["build", *words, "--repo", address, "--out", str(tmp_path / out), "-q", "--no-html"], standalone_mode=False)

    assert build("one", "v0.2.0").return_value == 0
    monkeypatch.setattr(Store, "_list_remote", lambda *_: pytest.fail("asked the remote"))
    run = build("all", "--all-releases", "--offline")
    assert run.return_value == 0, run.output
    assert [path.name for path in shelf(tmp_path / "all")] == ["v0.2.0"]


def test_a_folder_that_is_an_atlas_takes_no_others(demo, mini_repo):
    before = (demo.out / "index.html").read_bytes()
    with pytest.raises(UsageError, match="holds one atlas itself"):
        build_all(requests(mini_repo, "v0.1.0", "v0.2.0"), demo.out, SilentProgress())
    assert (demo.out / "index.html").read_bytes() == before


def test_a_page_of_somebody_else_is_not_overwritten(mini_repo, tmp_path):
    """A folder that is no atlas: its front page, pages and assets stay."""
    mine = {name: tmp_path / "site" / name for name in ("index.html", "pages/about.js", "pages/about.html", "assets/logo.svg", "assets/more/deep.css")}
    for path in mine.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    for words in (("v0.1.0",), ("v0.1.0", "v0.2.0")):
        done = CliRunner().invoke(commands, ["build", *words, "--repo", str(mini_repo), "--out", str(tmp_path / "site"), "-q", "-j", "1"])
        assert isinstance(done.exception, UsageError), done.output
        assert "would be overwritten" in done.exception.message
        assert sorted(path.name for path in (tmp_path / "site").iterdir()) == ["assets", "index.html", "pages"]
    mine.pop("index.html").unlink()
    assert build_all(requests(mini_repo, "v0.1.0", "v0.2.0"), tmp_path / "site", SilentProgress(), workers=1) == ()
    (tmp_path / "site/assets/style.0123456789.css").write_text("of an earlier front end")
    refresh(tmp_path / "site", SilentProgress())
    assert [path.read_text() for path in mine.values()] == ["mine"] * 4
    assert not (tmp_path / "site/assets/style.0123456789.css").exists()


def test_an_atlas_alone_says_that_only_it_was_read(root, mini_repo, tmp_path):
    tree = tmp_path / "tree"
    import subprocess

    tree.mkdir()
    packed = subprocess.run(["git", "-C", str(mini_repo), "archive", "v0.1.0"], capture_output=True, check=True).stdout
    subprocess.run(["tar", "x", "-C", str(tree)], input=packed, check=True)
    build(BuildRequest(SourceRequest(source=str(tree)), tmp_path / "alone", workers=1))
    assert "no other release was at hand when this page was drawn" in (tmp_path / "alone/op/mul.html").read_text()
    assert "was at hand when this page was drawn, so nothing" in (tmp_path / "alone/releases/index.html").read_text()
    assert "../index.html" not in (tmp_path / "alone/index.html").read_text()


def test_without_pages_no_old_page_stays(mini_repo, tmp_path):
    (older,), (newer,) = requests(mini_repo, "v0.1.0"), requests(mini_repo, "v0.2.0")
    build(BuildRequest(older, tmp_path / "a", workers=1))
    kept = tmp_path / "a/mine.txt"
    kept.write_text("not ours")
    build(BuildRequest(older, tmp_path / "a", workers=1, html=False))
    assert (tmp_path / "a/index.html").is_file(), "the pages are those of this very atlas"
    build(BuildRequest(newer, tmp_path / "a", workers=1, html=False))
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["atlas.db", "mine.txt"]
    build(BuildRequest(newer, tmp_path / "a", workers=1))
    assert (tmp_path / "a/index.html").is_file()


def test_nothing_changes_when_nothing_changed(root):
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file() and path.name != ".releases.json"}
    refresh(root, SilentProgress())
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert not list(Path(root).rglob("*.new"))


def test_names_as_people_write_them(mini_repo):
    def run(*words):
        return CliRunner().invoke(commands, ["history", *words, "--repo", str(mini_repo)], standalone_mode=False)

    for spelling in ("mul", "aten::mul", "torch.mul", "torch.Tensor.mul", "Tensor.mul", "torch.ops.aten.mul"):
        assert "aten::mul.Tensor  since v0.2.0" in run(spelling).stdout, spelling
    assert "did you mean potrf" in str(run("torch.potr").exception)
    assert "aten::relu" in run("relu", "nothing_like_it").stdout


def test_pages_of_the_newest_alone(mini_repo, tmp_path):
    words = ["build", "--all-releases", "--repo", str(mini_repo), "--out", str(tmp_path), "-q", "--pages", "1"]
    assert CliRunner().invoke(commands, words, standalone_mode=False).return_value == 0
    assert [tag for tag in TAGS if (tmp_path / tag / "index.html").is_file()] == ["v0.3.0"]
    listed = (tmp_path / "index.html").read_text()
    assert listed.count(">not drawn<") == 2
    assert "<td>v0.1.0 to v0.2.0<td" in listed


def test_releases_of_a_clone_are_not_opened_before_they_are_built(monkeypatch, tmp_path):
    def opened(request, *_, **__):
        raise AssertionError(request)

    monkeypatch.setattr(lineage, "open_tree", opened)
    monkeypatch.setattr(collection, "build", lambda request, _: tuple(request.beside) and tmp_path)
    assert build_all([SourceRequest(version=tag, url="file:///nowhere") for tag in ("v1.1.0", "v1.2.0")], tmp_path, SilentProgress()) == ()
    with pytest.raises(AssertionError, match="wheel"):
        build_all([SourceRequest(source=f"{tag}.wheel") for tag in ("a", "b")], tmp_path, SilentProgress())


def test_the_demo_is_no_release(mini_repo, tmp_path, monkeypatch):
    """Its tag is one that PyTorch has too: beside real atlases it says nothing about when an operator came."""
    monkeypatch.setenv("CARTOGRAPHER_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def run(*words):
        return CliRunner().invoke(commands, [*words], standalone_mode=False)

    assert run("build", "--demo", "--no-html", "-q", "-j", "1").return_value == 0
    assert "looked at v0.3.0 alone; unknown" in run("history", "mul").stdout
    assert run("list").stdout.split()[:2] == ["v0.3.0", "demo"]
    assert run("build", "v0.1.0", "v0.2.0", "--repo", str(mini_repo), "--no-html", "-q", "-j", "1").return_value == 0
    assert "looked at 2 releases, v0.1.0 to v0.2.0" in run("history", "mul").stdout


def test_a_release_whose_list_cannot_be_read_though_its_names_were_kept(mini_repo, tmp_path):
    """Another clone of the same releases had told the names."""
    known = [replace(release, key=f"kept of {release.tag}") for release in lineage.of_repository(mini_repo)]
    cache = Cache(tmp_path)
    lineage.lineage(known, cache, SilentProgress())
    (tmp_path / lineage.KIND / f"{known[1].key}-{known[2].key}.json").unlink()

    def fail():
        raise CartographerError("not here")

    found = lineage.lineage([*known[:2], replace(known[2], load=fail)], cache, SilentProgress())
    assert (found.releases, found.unread) == (TAGS[:2], TAGS[2:])


def test_a_folder_of_several_is_named_as_such(root):
    """Both where an atlas is asked for and where releases are compared."""
    several = [f"{root}/{tag}" for tag in TAGS]
    for words in (["where", "add", "-a", str(root)], ["diff", str(root), several[0]]):
        error = CliRunner().invoke(commands, words, standalone_mode=False).exception
        assert isinstance(error, CartographerError)
        assert (error.message, error.hint) == ("a folder of several atlases", f"name one of them: {', '.join(several)}")


def test_processes_without_end_are_not_started(root, monkeypatch):
    from cartographer.pipeline import building

    asked: list[int] = []
    monkeypatch.setattr(building, "build", lambda request, _: asked.append(request.workers) or root / "v0.1.0")
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    for words in ([], ["-j", "1"], ["-j", "100000"]):
        CliRunner().invoke(commands, ["build", "--demo", *words], standalone_mode=False, catch_exceptions=False)
    assert asked == [3, 1, 24]
