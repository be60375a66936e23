# SPDX-License-Identifier: BSD-3-Clause
"""Follows operators over the operator lists of many releases. What changed in each step is kept in the cache by content, so that
no release is read twice.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from cartographer.checkout import refs
from cartographer.checkout.git import Git, GitError, objects_of
from cartographer.checkout.git_tree import repository_refs
from cartographer.checkout.open import SourceRequest, open_tree
from cartographer.codegen import sources as generators
from cartographer.compare.operators import compare
from cartographer.declare import declarations
from cartographer.errors import CartographerError
from cartographer.makers import sources_digest
from cartographer.model.lineage import Lineage, joined, word_of
from cartographer.model.source import HistoryLevel
from cartographer.pipeline.lists import READERS, is_wanted, list_of_tree, operators_of
from cartographer.progress import SilentProgress
from cartographer.store.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from cartographer.checkout.cache import Cache
    from cartographer.model.change import Comparison
    from cartographer.model.oplist import OperatorList
    from cartographer.model.source import Tree
    from cartographer.progress import Progress

KIND = "lineage"  # the part of the cache
# What makes and compares lists.
MAKERS = ("model/*.py", "declare/*.py", "codegen/*.py", "compare/*.py", "pipeline/lists.py", "pipeline/lineage.py")
_Step = dict[str, tuple[str, ...]]  # operator -> words


@dataclass(frozen=True, slots=True)
class Release:
    """A release whose operator list can be read, from whatever source."""

    tag: str
    key: str  # changes whenever its list would; "" when it has none
    load: Callable[[], OperatorList]


def of_repository(git_dir: Path) -> tuple[Release, ...]:
    """All releases of a clone, oldest first; none of their trees is opened."""
    commits = {ref.removeprefix("refs/tags/"): commit for ref, commit in repository_refs(Git(git_dir)).items() if ref.startswith("refs/tags/")}
    tags = sorted((tag for tag in commits if refs.is_release(tag)), key=refs.release_order)
    paths = (*declarations.WANTED, *dict.fromkeys(_root(glob) for glob in generators.WANTED))
    asked = b"".join(f"{commits[tag]}:{path}\n".encode() for tag in tags for path in paths)
    try:
        answers = [line.decode() for line in objects_of(git_dir).run("cat-file", "--batch-check=%(objectname)", data=asked).splitlines()]
    except GitError:
        return ()
    found = []
    for number, tag in enumerate(tags):
        ids = [line if " " not in line else "" for line in answers[number * len(paths) : (number + 1) * len(paths)]]
        request = SourceRequest(version=f"refs/tags/{tag}", repo=str(git_dir), history=HistoryLevel.NONE)
        found.append(Release(tag, _digest(*ids) if ids and ids[0] else "", partial(operators_of, request, SilentProgress())))
    return tuple(found)


def _root(glob: str) -> str:
    """A path that git knows an id of and that holds all that a glob names: `torchgen/api` for `torchgen/api/*.py`."""
    return glob if "*" not in glob else glob.partition("*")[0].rpartition("/")[0]


def of_tree(tree: Tree) -> Release:
    """The release that an open tree holds."""
    wanted = [f for f in tree.files() if f.path in declarations.WANTED or generators.matches(f.path)]
    return Release(tree.info.tag, _digest(*(f"{f.path} {f.blob}" for f in wanted)), partial(list_of_tree, tree))


def of_requests(requests: Iterable[SourceRequest]) -> Iterator[Release]:
    """The releases of other requests, as far as their sources can be opened; the error of one that cannot is shown when it is built."""
    for request in requests:
        try:
            tree = open_tree(request, SilentProgress(), only=is_wanted)
        except CartographerError:
            continue
        yield of_tree(tree)


def of_atlases(folders: Iterable[Path]) -> Iterator[Release]:
    """The releases of existing atlases that hold their operator list."""
    for folder in folders:
        try:
            with Reader(folder) as reader:
                info = reader.info()
        except CartographerError:
            continue
        yield Release(info.source.tag, _digest(info.inputs) if info.inputs else "", partial(_stored, folder))


def _stored(folder: Path) -> OperatorList:
    with Reader(folder) as reader:
        listed = reader.oplist()
    if listed is None:
        raise CartographerError("this atlas holds no operator list", where=str(folder))
    return listed


def together(*groups: Iterable[Release]) -> tuple[Release, ...]:
    """Merge releases, in the order of versions; of several with one tag the first that has an operator list is kept."""
    found: dict[str, Release] = {}
    for release in (release for group in groups for release in group):
        if release.tag not in found or not found[release.tag].key:
            found[release.tag] = release
    return tuple(sorted(found.values(), key=lambda release: refs.release_order(release.tag)))


def lineage(releases: Sequence[Release], cache: Cache, progress: Progress) -> Lineage:
    """What happened to every operator over `releases`, given oldest first. A single release has no lineage."""
    if len(releases) < 2:
        return Lineage()
    progress.stage("operators over the releases", len(releases))
    lists = _Lists()
    read: list[tuple[Release, frozenset[str]]] = []
    unread, steps = [], []
    for release in releases:
        names = _names(release, lists, cache)
        step = _step(read[-1][0], release, lists, cache) if read and names is not None else {}
        if names is None or step is None:
            unread.append(release.tag)
        else:
            if read:
                steps.append(step)
            read.append((release, names))
        progress.step()
    if len(read) < 2:
        return Lineage()
    return joined((release.tag for release, _ in read), read[0][1], steps, unread)


def before(tag: str, releases: Sequence[Release]) -> Release | None:
    """The release before a tag, among those that have an operator list."""
    earlier = [release for release in releases if release.key and refs.release_order(release.tag) < refs.release_order(tag)]
    return earlier[-1] if earlier else None


def step_to(new: OperatorList | None, old: Release | None) -> Comparison | None:
    """What changed in a release since the one before; None when no earlier one can be read."""
    if new is None or old is None:
        return None
    try:
        return compare(old.load(), new)
    except CartographerError:
        return None


class _Lists:
    """The lists of the last two releases: no more are ever wanted at once."""

    def __init__(self) -> None:
        self._kept: dict[str, OperatorList] = {}

    def of(self, release: Release) -> OperatorList:
        if release.tag not in self._kept:
            listed = release.load()
            self._kept = dict([*self._kept.items()][-1:]) | {release.tag: listed}
        return self._kept[release.tag]


def _names(release: Release, lists: _Lists, cache: Cache) -> frozenset[str] | None:
    """The operators of a release; None when its list cannot be read."""
    if not release.key:
        return None
    name = f"{release.key}.json"
    kept = cache.read(KIND, name)
    if kept is not None:
        try:
            return msgspec.json.decode(kept, type=frozenset[str])
        except msgspec.DecodeError:
            pass
    try:
        names = frozenset(lists.of(release).rows)
    except CartographerError:
        return None
    cache.keep(msgspec.json.encode(sorted(names)), KIND, name)
    return names


def _step(old: Release, new: Release, lists: _Lists, cache: Cache) -> _Step | None:
    """What happened to which operator between two releases; None when a list cannot be read, though its names were kept."""
    if old.key == new.key:
        return {}
    name = f"{old.key}-{new.key}.json"
    kept = cache.read(KIND, name)
    if kept is not None:
        try:
            return msgspec.json.decode(kept, type=_Step)
        except msgspec.DecodeError:
            pass
    found: dict[str, dict[str, None]] = {}
    try:
        changes = compare(lists.of(old), lists.of(new)).changes
    except CartographerError:
        return None
    for change in changes:
        if word := word_of(change.id, change.fold):
            found.setdefault(change.op, {})[word] = None
    step = {op: tuple(sorted(words)) for op, words in sorted(found.items())}
    cache.keep(msgspec.json.encode(step), KIND, name)
    return step


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join((sources_digest(*MAKERS, packages=READERS), *parts)).encode("utf-8", "surrogateescape")).hexdigest()[:24]
