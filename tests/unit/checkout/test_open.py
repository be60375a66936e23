# SPDX-License-Identifier: BSD-3-Clause
import os
from pathlib import Path

import pytest

from cartographer.checkout import open as opening
from cartographer.checkout.cache import ENVIRONMENT
from cartographer.checkout.open import SourceRequest, history_repository, open_tree
from cartographer.errors import CheckoutError, UnknownVersion, UsageError
from cartographer.model.source import HistoryLevel, SourceKind
from cartographer.progress import SilentProgress

from .conftest import FILES, LIST, git, make_wheel, write

NOWHERE = "file:///nowhere/at/all"


def ask(tmp_path: Path, version: str | None = None, **options: object) -> SourceRequest:
    return SourceRequest(version, cache=tmp_path / "cache", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [
    {}, {"repo": "a", "source": "b"}, {"version": "v1", "source": "b", "from_wheel": True}, {"version": "-evil"},
    {"version": "v1", "python": Path("p")}, {"version": "v1", "repo": "a", "from_wheel": True}, {"from_wheel": True},
])
def test_requests_that_make_no_sense(options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        SourceRequest(**options)  # type: ignore[arg-type]


def test_the_clone_is_the_rule(tmp_path: Path, server: str) -> None:
    tree = open_tree(ask(tmp_path, "9.1.0", url=server), SilentProgress())
    assert (tree.info.kind, tree.info.tag) == (SourceKind.GIT, "v9.1.0")
    assert tree.read(LIST) == FILES[LIST]
    access = history_repository(tree)
    assert access is not None
    assert (access.level, access.shallow, access.reason) == (HistoryLevel.LINES, False, "")
    assert git(Path(access.git_dir), "rev-parse", access.commit) == tree.info.commit


@pytest.mark.parametrize(("level", "shallow"), [(HistoryLevel.NONE, True), (HistoryLevel.FILES, False)])
def test_less_history_says_how_to_get_more(tmp_path: Path, server: str, level: HistoryLevel, shallow: bool) -> None:
    access = history_repository(open_tree(ask(tmp_path, "9.1.0", url=server, history=level), SilentProgress()))
    assert access is not None
    assert (access.level, access.shallow) == (level, shallow)
    assert "--history lines" in access.reason


def test_what_is_here_needs_no_network(tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    open_tree(ask(tmp_path, "9.1.0", url=server), SilentProgress())
    monkeypatch.setattr(opening.Store, "ask", lambda *_: pytest.fail("asked the remote"))
    assert open_tree(ask(tmp_path, "v9.1.0", url=server), SilentProgress()).info.tag == "v9.1.0"
    assert open_tree(ask(tmp_path, "v9.1.0", url=server, offline=True), SilentProgress()).info.tag == "v9.1.0"
    with pytest.raises(CheckoutError, match="not in the cache"):
        open_tree(ask(tmp_path, "v9.0.0", repo=server, offline=True), SilentProgress())


def test_offline_the_releases_are_those_whose_files_are_here(tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "cache"))
    progress = SilentProgress()
    with pytest.raises(opening.Unreachable, match="no release is in the cache"):
        opening.remote_tags(server, progress, offline=True)
    open_tree(ask(tmp_path, "v9.1.0", repo=server), SilentProgress())
    assert {"refs/tags/v9.0.0", "refs/tags/v9.1.0"} <= set(opening.remote_tags(server, progress))
    monkeypatch.setattr(opening.Store, "_list_remote", lambda *_: pytest.fail("asked the remote"))
    assert list(opening.remote_tags(server, progress, offline=True)) == ["refs/tags/v9.1.0"]
    assert "1 of the 3 tags" in progress.notes[-1]


def test_less_than_asked_for_is_used_when_the_remote_is_gone(tmp_path: Path, repository: Path) -> None:
    bare = tmp_path / "bare.git"
    git(repository, "clone", "-q", "--bare", str(repository), str(bare))
    open_tree(ask(tmp_path, "main", repo=bare.as_uri(), history=HistoryLevel.NONE), SilentProgress())
    bare.rename(tmp_path / "gone.git")
    progress = SilentProgress()
    tree = open_tree(ask(tmp_path, "main", repo=bare.as_uri()), progress)
    assert tree.read(LIST) == FILES[LIST]
    assert any("cannot be reached" in note for note in progress.notes)
    assert any("less history" in note for note in progress.notes)


def test_the_wheel_when_the_host_cannot_be_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = make_wheel(tmp_path / "torch-9.1.0-py3-none-any.whl")
    monkeypatch.setattr(opening.pypi, "find_wheel", lambda *_, **__: wheel)
    progress = SilentProgress()
    tree = open_tree(ask(tmp_path, "v9.1.0", url=NOWHERE), progress)
    assert tree.info.kind is SourceKind.WHEEL
    assert history_repository(tree) is None
    assert "no kernel bodies and no history" in progress.notes[0]
    assert "--repo" in progress.notes[0]
    with pytest.raises(CheckoutError, match="ls-remote"):  # a repository that was named is not replaced by something else
        open_tree(ask(tmp_path, "v9.1.0", repo=NOWHERE), progress)
    with pytest.raises(CheckoutError, match="ls-remote"):  # a branch has no wheel
        open_tree(ask(tmp_path, "main", url=NOWHERE), progress)


def test_neither_can_be_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> Path:
        raise CheckoutError("pip could not bring the wheel")

    monkeypatch.setattr(opening.pypi, "find_wheel", fail)
    with pytest.raises(CheckoutError, match="no wheel serves instead") as caught:
        open_tree(ask(tmp_path, "v9.1.0", url=NOWHERE), SilentProgress())
    assert "--source DIR" in (caught.value.hint or "")


def test_an_unknown_tag_is_not_looked_for_in_the_index(tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening.pypi, "find_wheel", lambda *_, **__: pytest.fail("asked the index"))
    with pytest.raises(UnknownVersion):
        open_tree(ask(tmp_path, "v9.1.8", url=server), SilentProgress())


def test_sources_at_hand(tmp_path: Path, repository: Path) -> None:
    folder = write(tmp_path / "pytorch-9.1.0", FILES)
    wheel = make_wheel(tmp_path / "torch-9.1.0-py3-none-any.whl")
    kinds = [open_tree(ask(tmp_path, source=str(path)), SilentProgress()).info.kind for path in (folder, wheel)]
    assert kinds == [SourceKind.DIRECTORY, SourceKind.WHEEL]
    assert open_tree(ask(tmp_path, "v9.0.0", repo=str(repository)), SilentProgress()).info.tag == "v9.0.0"
    assert open_tree(ask(tmp_path, repo=str(repository)), SilentProgress()).info.commit == git(repository, "rev-parse", "HEAD")
    with pytest.raises(UsageError, match=r"holds 9.1.0, not v9.0.0"):
        open_tree(ask(tmp_path, "v9.0.0", source=str(folder)), SilentProgress())
    open_tree(ask(tmp_path, "v9.1.0", source=str(folder)), SilentProgress())


def test_wrong_paths_are_told(tmp_path: Path, repository: Path) -> None:
    bare = tmp_path / "bare.git"
    git(repository, "clone", "-q", "--bare", str(repository), str(bare))
    with pytest.raises(UsageError, match="bare repository"):
        open_tree(ask(tmp_path, source=str(bare)), SilentProgress())
    with pytest.raises(CheckoutError, match="not a git repository"):
        open_tree(ask(tmp_path, "v1", repo=str(tmp_path)), SilentProgress())
    with pytest.raises(CheckoutError, match="no such folder"):
        open_tree(ask(tmp_path, "v1", repo=str(tmp_path / "none")), SilentProgress())


def test_history_of_a_checkout_and_of_none(tmp_path: Path, repository: Path) -> None:
    access = history_repository(open_tree(ask(tmp_path, source=str(repository)), SilentProgress()))
    assert access is not None
    assert access.commit == git(repository, "rev-parse", "HEAD")
    assert history_repository(open_tree(ask(tmp_path, source=str(write(tmp_path / "pytorch-9.1.0", FILES))), SilentProgress())) is None


@pytest.mark.parametrize(("options", "level", "shallow", "words"), [
    ([], HistoryLevel.LINES, False, ""),
    (["--depth=3"], HistoryLevel.LINES, True, "--unshallow"),
    (["--filter=blob:none"], HistoryLevel.FILES, False, "--refetch"),
])
def test_what_a_clone_allows(
    tmp_path: Path, server: str, options: list[str], level: HistoryLevel, shallow: bool, words: str, monkeypatch: pytest.MonkeyPatch,
) -> None:
    from cartographer.checkout import history_access

    monkeypatch.setattr(history_access, "_FEW", 20)
    clone = tmp_path / "clone.git"
    git(tmp_path, "clone", "-q", "--bare", *options, server, str(clone))
    access = history_access.of_clone(clone, git(clone, "rev-parse", "HEAD"))
    assert (access.level, access.shallow) == (level, shallow)
    assert words in access.reason
    assert bool(access.reason) == bool(words)


def test_a_clone_that_lacks_single_contents(tmp_path: Path, repository: Path) -> None:
    from cartographer.checkout import history_access

    clone = tmp_path / "clone"
    git(repository, "clone", "-q", "--no-local", str(repository), str(clone))
    (clone / "lost").write_text("lost\n")
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", "lost")
    blob = git(clone, "rev-parse", "HEAD:lost")
    (clone / ".git/objects" / blob[:2] / blob[2:]).unlink()
    git(clone, "config", "remote.origin.promisor", "true")
    access = history_access.of_clone(clone / ".git", git(clone, "rev-parse", "HEAD"))
    assert access.level is HistoryLevel.LINES
    assert "1 contents are missing" in access.reason


def test_what_a_clone_lacks_is_counted_from_a_commit_before(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cartographer.checkout import history_access
    from cartographer.checkout.cache import Cache

    clone, cache = tmp_path / "clone", Cache(tmp_path / "cache")
    git(repository, "clone", "-q", "--no-local", str(repository), str(clone))
    git(clone, "config", "remote.origin.promisor", "true")
    walks: list[tuple[str, ...]] = []
    walk = history_access._missing
    monkeypatch.setattr(history_access, "_missing", lambda of, *commits: (walks.append(commits), walk(of, *commits))[1])

    def lacks(of: str, *names: str) -> None:
        said = history_access.of_clone(clone / ".git", of, cache).reason
        assert said == (f"{len(names)} contents are missing: lines that they touch cannot be dated" if names else "")

    def commit(name: str) -> tuple[str, Path]:
        (clone / name).write_text(f"{name}\n")
        git(clone, "add", name)
        git(clone, "commit", "-q", "-m", name)
        blob = git(clone, "rev-parse", f"HEAD:{name}")
        return git(clone, "rev-parse", "HEAD"), clone / ".git/objects" / blob[:2] / blob[2:]

    first = git(clone, "rev-parse", "HEAD")
    (second, lost), (third, gone) = commit("lost"), commit("gone")
    kept = lost.rename(tmp_path / "blob")
    gone.unlink()
    lacks(first)
    lacks(second, "lost")
    lacks(third, "lost", "gone")
    assert walks == [(first,), (second, "--not", first), (third, "--not", second)]
    lacks(third, "lost", "gone")
    assert len(walks) == 3
    kept.rename(lost)  # as if it had been fetched
    lacks(third, "gone")
    lone = git(clone, "commit-tree", "-m", "lone", git(clone, "hash-object", "-w", "-t", "tree", os.devnull))
    lacks(lone)
    assert walks[-1] == (lone, "--not", first)  # where nothing is missing, nothing of it counts for another history
    history_access.of_clone(clone / ".git", first, Cache(tmp_path / "none"))
    assert walks[-1] == (first,)


def test_what_a_partial_clone_lacks_is_asked_of_its_objects_alone(tmp_path: Path, repository: Path) -> None:
    """By its name in the clone, git would send for what a remote has promised, and end where it may not."""
    from cartographer.checkout import history_access
    from cartographer.checkout.cache import Cache

    remote, clone, cache = tmp_path / "remote", tmp_path / "clone.git", Cache(tmp_path / "cache")
    git(repository, "clone", "-q", "--bare", str(repository), str(remote))
    git(remote, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--bare", "--filter=blob:limit=2200", remote.as_uri(), str(clone))
    for commit in ("v9.0.0^{commit}", "v9.1.0", "v9.0.0^{commit}", "v9.1.0"):
        name = git(clone, "rev-parse", commit)
        alone = history_access.of_clone(clone, name)
        assert " contents are missing" in alone.reason
        assert history_access.of_clone(clone, name, cache) == alone


@pytest.mark.parametrize("kept", [b"[" * 100_000, b'{"HEAD": ["HEAD"]}', b'{"%s": ["\\ud800"]}' % (b"0" * 40), b'{"%s": 1}' % (b"0" * 40), b'{"--all": []}'])
def test_what_is_kept_of_a_clone_is_not_believed_unseen(tmp_path: Path, repository: Path, kept: bytes) -> None:
    from cartographer.checkout import history_access
    from cartographer.checkout.cache import Cache

    clone, cache = tmp_path / "clone", Cache(tmp_path / "cache")
    git(repository, "clone", "-q", "--no-local", str(repository), str(clone))
    git(clone, "config", "remote.origin.promisor", "true")
    name = git(clone, "rev-parse", "HEAD")
    alone = history_access.of_clone(clone / ".git", name, cache)
    (place,) = (tmp_path / "cache" / history_access.KIND).iterdir()
    cache.write(kept, history_access.KIND, place.name)
    assert history_access.of_clone(clone / ".git", name, cache) == alone


def test_a_read_only_cache_is_told_and_the_build_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    progress = SilentProgress()
    request = SourceRequest(source=str(write(tmp_path / "pytorch-9.1.0", FILES)), cache=tmp_path / "file" / "cache")
    assert open_tree(request, progress).read(LIST) == FILES[LIST]
    assert "cannot be written to" in progress.notes[0]


def test_a_store_that_lost_contents_fetches_them_again(tmp_path: Path, server: str) -> None:
    request = ask(tmp_path, "9.1.0", url=server, history=HistoryLevel.FILES)
    store = Path(history_repository(open_tree(request, SilentProgress())).git_dir)  # type: ignore[union-attr]
    packs = sorted((store / "objects/pack").glob("*.pack"), key=lambda path: path.stat().st_mtime_ns)
    for path in (store / "objects/pack").glob(f"{packs[-1].stem}.*"):  # the last one holds the contents
        path.unlink()
    assert open_tree(request, SilentProgress()).read(LIST) == FILES[LIST]


def test_a_damaged_store_is_told(tmp_path: Path, server: str) -> None:
    request = ask(tmp_path, "9.1.0", url=server, history=HistoryLevel.NONE)
    store = Path(history_repository(open_tree(request, SilentProgress())).git_dir)  # type: ignore[union-attr]
    (store / "config").write_text("[core\n")
    with pytest.raises(CheckoutError, match="bad config") as caught:
        open_tree(request, SilentProgress())
    assert "cartographer clean" in (caught.value.hint or "")


def test_a_clone_without_a_cache(tmp_path: Path, server: str) -> None:
    (tmp_path / "file").write_text("in the way")
    progress = SilentProgress()
    request = SourceRequest("v9.1.0", url=server, history=HistoryLevel.FILES, cache=tmp_path / "file" / "cache")
    assert open_tree(request, progress).info.tag == "v9.1.0"
    assert "until this build ends" in progress.notes[1]
