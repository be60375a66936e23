# SPDX-License-Identifier: BSD-3-Clause
"""diff and history over the tags of mini torch."""

import json
import shutil
import subprocess

import jsonschema
import pytest
from click.testing import CliRunner

from cartographer.checkout import git
from cartographer.checkout.cache import Cache
from cartographer.checkout.clone import DEFAULT_URL, store_path
from cartographer.checkout.demo import DEMO_TAG, make_demo_repository
from cartographer.checkout.git import environment
from cartographer.checkout.open import SourceRequest
from cartographer.cli import commands
from cartographer.compare.machine import JSON_SCHEMA
from cartographer.compare.selection import Selection
from cartographer.errors import CartographerError, CompareError, NotFound, UsageError
from cartographer.pipeline.building import BuildRequest, build
from cartographer.pipeline.releases import compare_releases, operator_history
from cartographer.progress import SilentProgress
from cartographer.query import atlases


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return str(make_demo_repository(tmp_path_factory.mktemp("diff") / "mini.git"))


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CARTOGRAPHER_CACHE", str(tmp_path / "cache"))


def test_between_two_tags(repository) -> None:
    found = compare_releases("v0.1.0", "v0.2.0", repo=repository)
    ids = {(c.op, c.id) for c in found.changes}
    assert ("aten::potrf", "op-removed") in ids
    assert ("aten::cholesky", "op-added") in ids
    assert ("aten::mul.Tensor", "overload-added") in ids
    assert len(found.old_web.rpartition("/")[2]) == 40  # permalinks are pinned to the commit
    removed = next(c for c in found.changes if c.id == "op-removed")
    assert removed.places[0].path == "aten/src/ATen/native/native_functions.yaml"


@pytest.mark.parametrize("built", [False, True])
def test_every_key_of_the_list_can_be_asked_for(repository, tmp_path, built) -> None:
    """Whether the lists are read anew or those of atlases; the words of a filter that matches nothing say why."""
    sides = ["v0.2.0", DEMO_TAG]
    if built:
        sides = [str(build(BuildRequest(SourceRequest(version=tag, repo=repository), tmp_path / tag, 1, html=False), SilentProgress())) for tag in sides]
    for key in ("QuantizedMeta", "sparsexpu"):
        found = compare_releases(*sides, repo=None if built else repository, selection=Selection(backend=key))
        assert not found.changes
        assert any(key.lower() in note.lower() for note in found.notes)
    with pytest.raises(CompareError, match="NoSuchKey"):
        compare_releases(*sides, repo=None if built else repository, selection=Selection(backend="NoSuchKey"))
    assert CliRunner().invoke(commands, ["diff", *sides, "--backend", ""]).exit_code != 0


def test_backwards_too(repository) -> None:
    forth = compare_releases("v0.2.0", "v0.3.0", repo=repository)
    back = compare_releases("v0.3.0", "v0.2.0", repo=repository)
    assert {c.op for c in forth.changes if c.id.endswith("-added")} >= {"aten::square", "aten::linear"}
    assert {c.op for c in back.changes if c.id.endswith("-removed")} >= {"aten::square", "aten::linear"}
    assert "0.3.0 is the later release" in "".join(back.notes)
    assert not forth.notes


def test_forms_and_exit_codes(repository) -> None:
    def run(*words: str):
        return CliRunner().invoke(commands, ["diff", "v0.1.0", "v0.2.0", "--repo", repository, *words], standalone_mode=False)

    jsonschema.validate(json.loads(run("--format", "json").stdout), JSON_SCHEMA)
    assert "potrf" in run().stdout
    assert "| `potrf` |" in run("--format", "markdown").stdout
    html = run("--format", "html").stdout
    assert "<h1>0.1.0 to 0.2.0</h1>" in html
    assert "<ins>" in html or "not in 0.2.0" in html
    assert "src=" not in html  # one file, that asks for no other
    assert "::error" in run("--format", "github").stdout
    assert run("--fail-on", "break").return_value == 1
    assert run("--fail-on", "break", "--op", "mul*", "--level", "break").return_value in (0, 1)
    assert isinstance(run("--op", "nothing*", "--fail-on", "info").exception, CompareError), "a misspelt name would pass for ever"
    assert "::notice title=note::no operator of either release is called nothing*" in run("--op", "nothing*", "--op", "mul*", "--format", "github").stdout


def test_an_error_is_never_no_changes(repository) -> None:
    result = CliRunner().invoke(commands, ["diff", "v0.1.0", "v9.9.9", "--repo", repository], standalone_mode=False)
    assert isinstance(result.exception, CompareError)
    assert result.exception.exit_code == 2
    assert "v9.9.9" in str(result.exception)


def test_history(repository) -> None:
    (line,), looked = operator_history(["potrf"], repo=repository)
    assert looked == ("v0.1.0", "v0.2.0", "v0.3.0")
    assert "gone in v0.2.0" in line.says
    lines, _ = operator_history(["relu"], repo=repository)
    assert "aten::relu" in [line.name for line in lines]
    assert operator_history(["relu"], repo=repository, since="v0.2.0")[1] == ("v0.2.0", "v0.3.0")
    with pytest.raises(CompareError, match="--since takes a release"):
        operator_history(["relu"], repo=repository, since="vx")
    with pytest.raises(NotFound, match="no release"):
        operator_history(["no_such_operator"], repo=repository)


@pytest.fixture
def own(repository, tmp_path, monkeypatch):
    """Our own clone in the cache, which lacks the newest release; its atlas is in a list. The network is not reached."""
    monkeypatch.chdir(tmp_path)
    clone = store_path(Cache(), DEFAULT_URL)
    subprocess.run(["git", "clone", "-q", "--mirror", repository, str(clone)], check=True)
    subprocess.run(["git", "-C", str(clone), "tag", "-d", "v0.3.0"], check=True, capture_output=True)
    atlases.remember(build(BuildRequest(SourceRequest(version="v0.3.0", repo=repository), tmp_path / "out", workers=1, html=False)))
    monkeypatch.setattr(git, "environment", lambda network=False, **more: pytest.fail("a network") if network else environment(network=False, **more))
    return clone


def test_history_without_options_is_over_the_clone_in_the_cache_and_every_atlas(own, repository) -> None:
    (line,), looked = operator_history(["potrf"])
    assert looked == ("v0.1.0", "v0.2.0", "v0.3.0")
    assert "gone in v0.2.0" in line.says
    assert operator_history(["relu"], since="v0.2.0")[1] == ("v0.2.0", "v0.3.0")
    assert operator_history(["relu"], since="v0.3.0")[1] == ("v0.3.0",)
    with pytest.raises(NotFound, match=r"no release from v0\.4\.0 on"):
        operator_history(["relu"], since="v0.4.0")


def test_history_of_what_is_given_is_of_nothing_else(own, repository, tmp_path) -> None:
    tree = tmp_path / "pytorch-0.1.0"
    tree.mkdir()
    archive = subprocess.run(["git", "-C", repository, "archive", "v0.1.0"], check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(tree)], input=archive, check=True)
    assert operator_history(["potrf"], sources=[tree])[1] == ("v0.1.0",)
    with pytest.raises(NotFound, match="no release from"):
        operator_history(["potrf"], sources=[tree], since="v0.2.0")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound, match=r"no torch-\*\.whl in this folder"):
        operator_history(["potrf"], wheels=[tmp_path / "empty"])


def test_history_without_a_clone_is_over_the_atlases(own) -> None:
    shutil.rmtree(own)
    assert operator_history(["relu"])[1] == ("v0.3.0",)


def test_lists_are_kept_by_content(repository, tmp_path, monkeypatch) -> None:
    from cartographer.pipeline import lists

    first = compare_releases("v0.1.0", "v0.2.0", repo=repository)
    kept = sorted((tmp_path / "cache" / lists.KIND).iterdir())
    assert len(kept) == 2
    with monkeypatch.context() as patched:
        patched.setattr(lists, "_made", lambda _: pytest.fail("made again"))
        assert compare_releases("v0.1.0", "v0.2.0", repo=repository) == first
    kept[0].write_bytes(b"damaged")
    kept[1].write_bytes(b"")
    assert compare_releases("v0.1.0", "v0.2.0", repo=repository) == first


def test_nothing_is_kept_where_nothing_can_be(repository, tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CARTOGRAPHER_CACHE", str(tmp_path / "file" / "cache"))
    assert compare_releases("v0.1.0", "v0.2.0", repo=repository).changes


@pytest.mark.parametrize("fault", [RuntimeError("a fault of ours"), PermissionError(13, "Permission denied", "somewhere"), CompareError("unreadable")])
def test_what_could_not_be_compared_is_never_no_changes(fault, monkeypatch) -> None:
    from cartographer.cli import _run
    from cartographer.pipeline import releases

    def fails(*_, **__):
        raise fault

    monkeypatch.setattr(releases, "compare_releases", fails)
    assert _run(["diff", "v1", "v2", "--fail-on", "break"], debug=False) == 2


@pytest.mark.parametrize("text", ["/tmp/no/such/tree", "./nowhere", "gone.whl", "gone.db"])
def test_a_path_that_is_not_there_is_no_tag(text, tmp_path):
    with pytest.raises(CompareError, match="there is no such file or folder"):
        compare_releases(text, str(tmp_path))


@pytest.mark.parametrize(("given", "says"), [("wheels", r"no torch-\*\.whl in this folder"), ("sources", "PyTorch")])
def test_history_says_what_is_wrong_with_what_is_given(tmp_path, given, says):
    with pytest.raises(CartographerError, match=says) as caught:
        operator_history(["gelu"], **{given: [tmp_path]})
    assert "release to look at" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_history_of_a_name_like_no_other(repository):
    with pytest.raises(NotFound) as caught:
        operator_history(["zzzzqq"], repo=repository)
    assert "search zzzzqq" in caught.value.hint
    for empty in ("", "  "):
        with pytest.raises(UsageError, match="an empty name"):
            operator_history([empty], repo=repository)
