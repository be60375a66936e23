# SPDX-License-Identifier: BSD-3-Clause
"""Reads a commit of a git repository as a `Tree`: file names from its tree objects, bytes from its blobs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.checkout import refs
from cartographer.checkout.blob_reader import BlobReader
from cartographer.checkout.git import Git, objects_of
from cartographer.checkout.versions import LANDMARKS, is_safe, require_pytorch, version_of_commit
from cartographer.errors import CheckoutError
from cartographer.model.source import Availability, HistoryAccess, SourceInfo, SourceKind, TreeFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_FOR_EACH_REF = ("for-each-ref", "--format=%(objectname) %(*objectname) %(refname)")
_ENTRY = re.compile(rb"(?P<mode>[0-7]{6}) (?P<type>\w+) (?P<id>[0-9a-f]{40}(?:[0-9a-f]{24})?) +(?P<size>\d{1,15}|-|BAD)\t(?P<path>.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Listing:
    """The regular files of one commit; `missing` are those whose content the clone lacks."""

    files: tuple[TreeFile, ...]
    missing: frozenset[str]


def parse_listing(output: bytes) -> Listing:
    """The files in the output of `ls-tree -r -z -l`; symbolic links, submodules and paths that leave the tree are left out."""
    files: dict[str, TreeFile] = {}
    missing = set()
    for record in output.split(b"\0"):
        match = _ENTRY.fullmatch(record)
        if match is None or match["type"] != b"blob" or not match["mode"].startswith(b"100"):
            continue
        path = match["path"].decode("utf-8", "replace")
        if not is_safe(path) or path in files:
            continue
        size = int(match["size"]) if match["size"].isdigit() else 0
        if match["size"] == b"BAD":
            missing.add(path)
        files[path] = TreeFile(path, match["id"].decode("ascii"), size)
    return Listing(tuple(files[path] for path in sorted(files)), frozenset(missing))


def repository_refs(git: Git, *names: str) -> dict[str, str]:
    """All refs of a repository, or the named ones: full name -> peeled commit."""
    return refs.parse_refs(git.run(*_FOR_EACH_REF, *names))


def resolve(git: Git, version: str, described: str) -> refs.Resolved:
    """The commit that a version means in a repository. Raises UnknownVersion with near misses."""
    refs.check_version(version)
    known = repository_refs(git)
    found = refs.pick(version, known)
    name = found.commit if found is not None else version
    if found is None and not (refs.is_commit(version) or version == "HEAD"):
        raise refs.unknown_version(version, _tags(known), described)
    try:
        commit = git.text("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    except CheckoutError:
        raise refs.unknown_version(version, _tags(known), described) from None
    return refs.Resolved(commit, found.ref if found is not None else "")


class GitTree:
    """The files of one commit, read from git objects only, never from a working tree."""

    def __init__(self, git_dir: Path, resolved: refs.Resolved, described: str, version: str | None = None) -> None:
        self.git_dir = git_dir
        self._git = Git(git_dir)
        self._view = objects_of(git_dir)
        self._blobs = BlobReader(self._view)
        self.commit = resolved.commit
        self.history: HistoryAccess | None = None  # a store of our own knows it; a clone was looked at
        try:
            listing = parse_listing(self._view.run("ls-tree", "-r", "-z", "-l", "--full-tree", resolved.commit))
        except CheckoutError as error:
            raise CheckoutError(
                f"the folders of commit {resolved.commit[:12]} cannot be read: {error.message}", where=described,
                hint="a treeless or damaged clone: `git fetch --refetch --no-filter` brings what it lacks",
            ) from error
        self._files = listing.files
        self._by_path = {file.path: file for file in listing.files}
        self._missing = set(listing.missing)
        require_pytorch(self._by_path.__contains__, described)
        self.info = self._describe(resolved, described, version)
        self._require_content(described)

    def files(self) -> tuple[TreeFile, ...]:
        """All regular files of the commit, sorted by path."""
        return self._files

    def read(self, path: str) -> bytes:
        """The bytes of one file. Raises CheckoutError."""
        for _, data in self.read_many((path,)):
            return data
        where = f"{self.info.described}:{path}"
        if self.availability(path) is Availability.ABSENT:
            raise CheckoutError(f"{self.info.tag} has no such file", where=where)
        raise CheckoutError(
            "the clone lacks the content of this file", where=where,
            hint="a partial or damaged clone: `git fetch --refetch --no-filter` brings what it lacks",
        )

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(path, bytes) in the order asked for; unreadable ones are left out."""
        wanted = [path for path in paths if path in self._by_path and path not in self._missing]
        answers = self._blobs.read_many(self._by_path[path].blob for path in wanted)
        for path, (_, data) in zip(wanted, answers, strict=True):
            if data is None:
                self._missing.add(path)
            else:
                yield path, data

    def availability(self, path: str) -> Availability:
        """Whether the bytes of a path can be read, and if not, why."""
        if path in self._missing:
            return Availability.MISSING_BLOB
        return Availability.PRESENT if path in self._by_path else Availability.ABSENT

    def missing(self) -> tuple[str, ...]:
        """The files whose content the clone lacks, as far as that is known."""
        return tuple(sorted(self._missing))

    def close(self) -> None:
        """End the git process that reads blobs."""
        self._blobs.close()

    def _describe(self, resolved: refs.Resolved, described: str, version: str | None) -> SourceInfo:
        """The tag that was asked for, or one that names the same commit, or the version that the commit states."""
        tag = resolved.tag
        if tag is None or not refs.numbers(tag):
            same = [t for t, commit in _tag_commits(repository_refs(self._git)) if commit == resolved.commit and refs.numbers(t)]
            tag = max(same, key=refs.release_order, default=None)
        if version is None and tag is not None:
            version = tag.removeprefix("v")
        if version is None:
            stated = self._blobs.read(self._by_path["version.txt"].blob) if "version.txt" in self._by_path else None
            name = resolved.ref.rpartition("/")[2] or "0.0.0"
            version = version_of_commit((stated or b"").decode("utf-8", "replace"), resolved.commit, name)
        return SourceInfo(SourceKind.GIT, version, tag or f"v{version}", resolved.commit, described)

    def _require_content(self, described: str) -> None:
        """A clone that lacks the operator list itself is of no use; say how to complete it."""
        if LANDMARKS[0] in self._missing:
            raise CheckoutError(
                f"the clone lacks the content of {len(self._missing)} of {len(self._files)} files of {self.info.tag}, "
                f"{LANDMARKS[0]} among them (a blobless clone)", where=described,
                hint=f"`git -C {described} fetch --refetch --no-filter` completes it; or build from a clone of our own, without --repo",
            )


def _tags(known: dict[str, str]) -> list[str]:
    return [tag for tag, _ in _tag_commits(known)]


def _tag_commits(known: dict[str, str]) -> list[tuple[str, str]]:
    return [(ref.removeprefix("refs/tags/"), commit) for ref, commit in known.items() if ref.startswith("refs/tags/")]
