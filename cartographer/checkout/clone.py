# SPDX-License-Identifier: BSD-3-Clause
"""One bare store for all tags of a remote repository, filled level by level, and resumable at every step.

`git clone` cannot go on where it was interrupted. So the history is brought in pieces that each stay once they are
here: the tag alone (depth 1); then older and older commits and folders in slices, without file contents; then the
contents of all versions, in batches sorted by file name, as git's own packs are, which lets the server reuse its
deltas. A later tag is an ordinary fetch of what is new. A server that knows no filters sends contents along with each slice.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import time
from typing import TYPE_CHECKING

from cartographer.checkout import refs
from cartographer.checkout.cache import Cache, write_error
from cartographer.checkout.fetch_report import FetchReport
from cartographer.checkout.git import Git, GitError, objects_of, progress_parser
from cartographer.checkout.git_tree import parse_listing, repository_refs
from cartographer.errors import CheckoutError
from cartographer.model.source import HistoryLevel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from cartographer.progress import Progress

DEFAULT_URL = "https://github.com/pytorch/pytorch"
KIND = "repositories"
_MARKS = "refs/cartographer"  # refs/cartographer/LEVEL/COMMIT: this commit is complete up to that level
_RANK = {HistoryLevel.NONE: 0, HistoryLevel.FILES: 1, HistoryLevel.LINES: 2}
_ANSWER_WITHIN = 60.0  # seconds for the remote's list of refs
_BATCH = 50_000  # contents asked for at once, as many as `git backfill` asks for
_FIRST_SLICE, _LEAST_SLICE, _MOST_SLICE = 2_000, 250, 64_000  # commits of depth
_QUICK, _SLOW = 20.0, 90.0  # seconds that a slice should take
_AT_HAND = "check the address and the network, or read what is at hand: --repo PATH (a clone), --source DIR (an unpacked tree), --source FILE.whl"
_LOCKS = ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*", "objects/tmp_*", "objects/info/*.lock")


class Unreachable(CheckoutError):  # noqa: N818 - says more than "...Error", as the names in errors do
    """Raised when the remote repository does not answer."""


def store_path(cache: Cache, url: str) -> Path:
    """The folder in the cache of the store for a remote repository."""
    if url.rstrip("/").removesuffix(".git") == DEFAULT_URL:
        return cache.root / KIND / "pytorch.git"
    name = re.sub(r"[^\w.-]", "-", url.rstrip("/").rpartition("/")[2].removesuffix(".git"))[:40] or "repository"
    return cache.root / KIND / f"{name}-{hashlib.sha256(url.encode()).hexdigest()[:8]}.git"


def own_clone() -> Path | None:
    """The git directory of our own clone of PyTorch, if this user's cache has one."""
    path = store_path(Cache(), DEFAULT_URL)
    return path if (path / "HEAD").exists() else None


class Store:
    """A bare repository in the cache, bound to one remote."""

    def __init__(self, cache: Cache, url: str, progress: Progress, keep: tuple[int, ...] = ()) -> None:
        self.url = url
        self.path = store_path(cache, url)
        self._progress = progress
        self._view: Git | None = None
        self._git = Git(self.path, keep=keep)
        self._net = Git(self.path, network=True, keep=keep)

    @property
    def exists(self) -> bool:
        """Whether anything has been fetched into the store."""
        return (self.path / "HEAD").exists()

    def prepare(self) -> None:
        """Make the store, or clear what a killed git left behind. The caller must hold the store's lock."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            for pattern in _LOCKS:
                for left in self.path.glob(pattern):
                    left.unlink(missing_ok=True)
        except OSError as error:
            raise write_error(error, self.path) from error
        if not self._git.succeeds("config", "--get", "remote.origin.url"):
            Git(None, keep=self._git.keep).run("init", "--quiet", "--bare", str(self.path))
            self._git.run("config", "remote.origin.url", self.url)
        with contextlib.suppress(GitError):
            lost = self._broken_refs()[1]  # else every fetch would stumble over them
            if lost:
                self._git.run("update-ref", "--stdin", data="".join(f"delete {ref}\n" for ref in lost).encode())

    def _refs(self) -> dict[str, str]:
        """Full name -> peeled commit; refs whose objects were lost are no refs."""
        try:
            return repository_refs(self._git)
        except GitError:
            listed, broken = self._broken_refs()
            whole = [ref for ref in listed if ref not in broken]
            return repository_refs(self._git, *whole) if whole and broken else {}

    def _broken_refs(self) -> tuple[list[str], frozenset[str]]:
        """(all refs, those that lead to no object)."""
        names = [line.partition(" ") for line in self._git.text("for-each-ref", "--format=%(objectname) %(refname)").splitlines()]
        asked = "".join(f"{ident}^{{}}\n" for ident, _, _ in names).encode()
        answers = self._objects().run("cat-file", "--batch-check=%(objectname)", data=asked).split(b"\n")
        return [ref for _, _, ref in names], frozenset(ref for (_, _, ref), said in zip(names, answers, strict=False) if said.endswith(b" missing"))

    def find(self, version: str) -> refs.Resolved | None:
        """The commit of a version, among what has been fetched already; None when it is not there."""
        if not self.exists:
            return None
        found = refs.pick(version, {ref: commit for ref, commit in self._refs().items() if not ref.startswith(_MARKS)})
        if found is None and refs.is_commit(version):
            with contextlib.suppress(GitError):
                return refs.Resolved(self._git.text("rev-parse", "--verify", "--quiet", f"{version}^{{commit}}"), "")
        return found if found is not None and self._has(found.commit) else None

    def level(self, commit: str) -> HistoryLevel | None:
        """How much of a commit's history is complete; None when not even its own files are there."""
        if not self.exists:
            return None
        marked = {ref for ref in self._refs() if ref.startswith(_MARKS)}
        reached = [level for level in _RANK if f"{_MARKS}/{level.value}/{commit}" in marked]
        return max(reached, key=_RANK.__getitem__, default=None)

    def is_complete(self, commit: str, level: HistoryLevel) -> bool:
        """Whether nothing needs to be fetched for this level; a store that has lost contents is not complete."""
        have = self.level(commit)
        return have is not None and _RANK[have] >= _RANK[level] and not self._lacking_in_tree(commit)

    def ask(self, version: str) -> refs.Resolved:
        """Ask the remote for the commit of a version. Raises Unreachable, or UnknownVersion with near misses."""
        wanted = [ref for ref in refs.candidates(version) if not ref.startswith("refs/remotes/")]
        listed = self._list_remote(*wanted, *(f"{ref}^{{}}" for ref in wanted), *(["HEAD"] if version == "HEAD" else []))
        found = refs.pick(version, listed)
        if found is not None:
            return found
        if version == "HEAD" and "HEAD" in listed:
            return refs.Resolved(listed["HEAD"], "")
        tags = self.remote_tags()
        raise refs.unknown_version(version, [ref.removeprefix("refs/tags/") for ref in tags], self.url)

    def remote_tags(self) -> dict[str, str]:
        """All tags of the remote repository, full name -> commit. Raises Unreachable."""
        return self._list_remote("--tags")

    def tags(self) -> dict[str, str]:
        """The tags that have been fetched, full name -> commit."""
        return {ref: commit for ref, commit in self._refs().items() if ref.startswith("refs/tags/")} if self.exists else {}

    def tags_at_hand(self) -> dict[str, str]:
        """The fetched tags whose files are in the store too, so that they can be opened without the remote."""
        levels = tuple(f"{_MARKS}/{level.value}/" for level in _RANK)
        whole = {ref.rpartition("/")[2] for ref in self._refs() if ref.startswith(levels)} if self.exists else set()
        return {ref: commit for ref, commit in self.tags().items() if commit in whole}

    def bring(self, wanted: refs.Resolved, level: HistoryLevel, of_releases: Callable[[str], bool] | None = None) -> None:
        """Fetch what is missing. What has come stays, whatever happens; calling again goes on from there.

        With history come the tags of all releases, and of each of them the files that `of_releases` names.
        """
        name = wanted.tag or wanted.ref.rpartition("/")[2] or wanted.commit[:12]
        first = not self._marked(HistoryLevel.FILES)
        grows = level is HistoryLevel.LINES and self._marked(HistoryLevel.LINES)  # then the server knows best what is new
        if not self._has(wanted.commit):
            options = ["--depth=1"] if first else []
            self._fetch(wanted, f"{name} alone" if first else name, options, filtered=not (first or grows))
        self._git.run("update-ref", wanted.ref or f"{_MARKS}/wanted/{wanted.commit}", wanted.commit)
        if level is not HistoryLevel.NONE:
            self._deepen(wanted, name)
        if level is HistoryLevel.LINES:  # the tag's own files are among them, and cost the server less there
            self._fetch_blobs(self._lacking_in_history(wanted.commit), f"all versions of the files of {name}")
        if level is not HistoryLevel.NONE:
            self._fetch_releases(of_releases)
        self._fetch_blobs(self._lacking_in_tree(wanted.commit), f"files of {name}")
        for reached, rank in _RANK.items():
            if rank <= _RANK[level]:
                self._mark(reached, wanted.commit)
        if level is HistoryLevel.NONE:
            return
        self._git.succeeds("commit-graph", "write", "--reachable")

    def _deepen(self, wanted: refs.Resolved, name: str) -> None:
        """Older commits in slices, until none that the tag reaches is a boundary."""
        depth = _FIRST_SLICE
        while boundary := self._boundary(wanted.commit):
            ends = self._git.text("log", "--no-walk", "--stdin", "--format=%cs", data=b"\n".join(sorted(boundary)) + b"\n")
            reached = min(ends.split())
            count = int(self._git.text("rev-list", "--count", wanted.commit))
            label = f"history of {name}: {count:,} commits, back to {reached}"
            started = time.monotonic()
            self._fetch(wanted, label, [f"--deepen={depth}"], filtered=True)
            if self._boundary(wanted.commit) == boundary:
                self._fetch(wanted, label, ["--unshallow"], filtered=True)
                if self._boundary(wanted.commit):
                    raise CheckoutError(f"the remote repository itself has no older history of {name}", where=self.url)
            spent = time.monotonic() - started
            depth = min(depth * 4, _MOST_SLICE) if spent < _QUICK else max(depth // 2, _LEAST_SLICE) if spent > _SLOW else depth

    def _fetch_releases(self, of_releases: Callable[[str], bool] | None) -> None:
        """The tags of all releases with their commits and folders: which release holds a commit first is told by all of them."""
        refspec = "+refs/tags/v*:refs/tags/v*"
        self._run_fetch([*self._filters(), "origin", refspec], "the tags of all releases")
        if of_releases is None:
            return
        wanted: dict[str, None] = {}
        for ref, commit in self.tags().items():
            if refs.is_release(ref.removeprefix("refs/tags/")):
                listed = self._objects().run("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")
                named = (entry.partition(b"\t") for entry in listed if entry.startswith(b"100"))
                wanted |= dict.fromkeys(head.split()[2].decode() for head, _, path in named if of_releases(path.decode("utf-8", "replace")))
        self._fetch_blobs(self._lacking([blob.encode() for blob in wanted]), "operator lists of all releases")

    def _filters(self) -> list[str]:
        return ["--filter=blob:none"] if self._setting("cartographer.filter") != "false" else ["--no-filter"]

    def _fetch(self, wanted: refs.Resolved, label: str, options: list[str], *, filtered: bool) -> None:
        """One fetch of the tag or commit. The remote's answer tells whether it knows filters; that is remembered."""
        refspec = f"+{wanted.ref}:{wanted.ref}" if wanted.ref else wanted.commit
        filters = self._filters() if filtered else ["--no-filter"]
        said = self._run_fetch([*options, *filters, "origin", refspec], label)
        if any("filtering not recognized" in line for line in said):
            self._git.run("config", "cartographer.filter", "false")
            for key in ("remote.origin.promisor", "remote.origin.partialclonefilter"):
                self._git.succeeds("config", "--unset-all", key)
            for promise in self.path.glob("objects/pack/*.promisor"):
                promise.unlink(missing_ok=True)

    def _fetch_blobs(self, blobs: Sequence[str], label: str) -> None:
        """Contents by id, in batches. Each batch stays; the total is exact, so the estimate is."""
        if not blobs:
            return
        report = FetchReport(self._progress, f"fetching {label}", total=len(blobs))
        for start in range(0, len(blobs), _BATCH):
            batch = blobs[start: start + _BATCH]
            data = b"".join(blob.encode() + b"\n" for blob in batch)
            options = ["--no-write-fetch-head", "--filter=blob:none", "--stdin", "origin"]
            self._run_fetch(options, label, data=data, report=report, settings=["-c", "fetch.negotiationAlgorithm=noop"])
            report.finish(len(batch))

    def _run_fetch(
        self, arguments: list[str], label: str, *, data: bytes = b"", report: FetchReport | None = None, settings: Sequence[str] = (),
    ) -> list[str]:
        shown = report if report is not None else FetchReport(self._progress, f"fetching {label}")
        command = [*settings, "fetch", "--progress", "--no-tags", "--no-auto-gc", *arguments]
        try:
            return self._net.run_with_progress(command, progress_parser(shown), data)
        except GitError as error:
            raise GitError(
                error.message, stderr=error.stderr, where=self.url,
                hint=error.hint or "what has come is kept: the same command goes on from here",
            ) from error

    def _list_remote(self, *patterns: str) -> dict[str, str]:
        git = Git(self.path if self.exists else None, network=True, keep=self._net.keep)
        try:
            options = [p for p in patterns if p.startswith("-")]
            names = [p for p in patterns if not p.startswith("-")]
            return refs.parse_remote_refs(git.run("ls-remote", *options, "--", self.url, *names, timeout=_ANSWER_WITHIN))
        except GitError as error:
            raise Unreachable(error.message, where=self.url, hint=_AT_HAND) from error

    def _lacking_in_tree(self, commit: str) -> list[str]:
        """Contents of the pinned tree that are not here, by path."""
        listing = parse_listing(self._objects().run("ls-tree", "-r", "-z", "-l", "--full-tree", commit))
        return list(dict.fromkeys(file.blob for file in listing.files if file.path in listing.missing))

    def _lacking_in_history(self, commit: str) -> list[str]:
        """Contents of every version that are not here, sorted by file name."""
        done = [ref for ref in self._refs() if ref.startswith(f"{_MARKS}/{HistoryLevel.LINES.value}/")]
        commits = self._git.run("rev-list", commit, *(f"^{ref}" for ref in done)).split()
        self._progress.stage("listing all versions of files", len(commits))
        by_path: dict[bytes, bytes] = {}
        for chunk in _chunks(commits, 5_000):
            output = self._git.run(
                "diff-tree", "--stdin", "-r", "-m", "--root", "--no-renames", "-z", "--raw", "--no-commit-id", data=b"".join(c + b"\n" for c in chunk),
            )
            for blob, path in parse_raw(output):
                by_path.setdefault(blob, path)
            self._progress.step(len(chunk))
        blobs = sorted(by_path, key=lambda blob: (by_path[blob].rpartition(b"/")[2], by_path[blob], blob))
        return self._lacking(blobs)

    def _lacking(self, blobs: Sequence[bytes]) -> list[str]:
        """Those of some contents that are not here."""
        asked = b"".join(blob + b"\n" for blob in blobs)
        answers = self._objects().run("cat-file", "--batch-check=%(objectname)", data=asked).split(b"\n")
        return [blob.decode() for blob, answer in zip(blobs, answers, strict=False) if answer.endswith(b" missing")]

    def _objects(self) -> Git:
        if self._view is None:
            self._view = objects_of(self.path)
        return self._view

    def _boundary(self, commit: str) -> frozenset[bytes]:
        """The commits at which the history of `commit` is cut off."""
        try:
            shallow = frozenset((self.path / "shallow").read_bytes().split())
        except OSError:
            return frozenset()
        return shallow & frozenset(self._git.run("rev-list", commit).split())

    def _has(self, commit: str) -> bool:
        return self._git.succeeds("cat-file", "-e", f"{commit}^{{commit}}")

    def _marked(self, level: HistoryLevel) -> bool:
        return any(ref.startswith(f"{_MARKS}/{level.value}/") for ref in self._refs())

    def _mark(self, level: HistoryLevel, commit: str) -> None:
        self._git.run("update-ref", f"{_MARKS}/{level.value}/{commit}", commit)

    def _setting(self, key: str) -> str:
        try:
            return self._git.text("config", "--get", key)
        except GitError:
            return ""


_RAW = re.compile(rb":[0-7]{6} (?P<mode>[0-7]{6}) [0-9a-f]{40,64} (?P<blob>[0-9a-f]{40,64}) [AMT]")


def parse_raw(output: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The pairs (new blob, path) in the output of `diff-tree --raw -z`; deletions and submodules are left out."""
    records = iter(output.split(b"\0"))
    for record in records:
        if record.startswith(b":"):
            path = next(records, b"")
            match = _RAW.fullmatch(record)
            if match is not None and match["mode"].startswith((b"10", b"12")):
                yield match["blob"], path


def _chunks(items: Sequence[bytes], size: int) -> Iterable[Sequence[bytes]]:
    return (items[start: start + size] for start in range(0, len(items), size))
