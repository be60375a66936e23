# SPDX-License-Identifier: BSD-3-Clause
"""Resolves a version as people write it to a commit; pure functions over what git lists."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.errors import UnknownVersion, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_COMMIT = re.compile(r"[0-9a-f]{7,40}", re.IGNORECASE)
# v1.7.0, and v1.0.0.post2, which is a release too; v1.7.0-rc3, v1.0.0a0 and 2.0.dev1 only come before one
_RELEASE = re.compile(r"v?(?P<numbers>\d+(?:\.\d+)*)(?:\.?post(?P<post>\d*)|(?P<before>(?:\.?(?:a|b|rc|dev)|-rc)\d*))?", re.ASCII)
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//")


@dataclass(frozen=True, slots=True)
class Resolved:
    """The result of resolving a version: the commit, and the full name of the ref that named it ("" for a commit by its id)."""

    commit: str
    ref: str

    @property
    def tag(self) -> str | None:
        """The tag's short name, when the version named a tag."""
        return self.ref.removeprefix("refs/tags/") if self.ref.startswith("refs/tags/") else None


def check_version(version: str) -> str:
    """A version that is safe to hand to git; raises UsageError for a text that cannot be a name."""
    if not version or version.startswith("-") or _FORBIDDEN.search(version):
        raise UsageError(f"not the name of a release, branch or commit: {version!r}", hint="write it as v2.11.0 or 2.11.0")
    return version


def candidates(version: str) -> tuple[str, ...]:
    """The refs that a version may mean, best first: a tag wins over a branch of its name."""
    if version.startswith("refs/"):
        return (version,)
    tags = [f"refs/tags/{version}"]
    if version[:1].isdigit():
        tags.insert(0, f"refs/tags/v{version}")
    heads = [f"refs/heads/{version}", f"refs/remotes/{version}", f"refs/remotes/origin/{version}"]
    return (*tags, f"refs/{version}", *heads)


def is_commit(version: str) -> bool:
    """Whether a version can be the (abbreviated) id of a commit."""
    return _COMMIT.fullmatch(version) is not None


def pick(version: str, refs: Mapping[str, str]) -> Resolved | None:
    """The commit that a version means among refs (full name -> peeled commit); a full id means itself."""
    if len(version) == 40 and is_commit(version):
        return Resolved(version.lower(), "")
    return next((Resolved(refs[ref], ref) for ref in candidates(version) if ref in refs), None)


def parse_refs(listing: bytes) -> dict[str, str]:
    """The refs in the output of `for-each-ref --format='%(objectname) %(*objectname) %(refname)'`: full name -> peeled commit."""
    refs: dict[str, str] = {}
    for line in listing.split(b"\n"):
        parts = line.split(b" ", 2)
        if len(parts) == 3 and _is_id(parts[0]) and (not parts[1] or _is_id(parts[1])):
            refs[parts[2].decode("utf-8", "replace")] = (parts[1] or parts[0]).decode("ascii")
    return refs


def parse_remote_refs(listing: bytes) -> dict[str, str]:
    """The refs in the output of `ls-remote`, full name -> peeled commit; an annotated tag has a second line there, ending in ^{}."""
    refs: dict[str, str] = {}
    peeled: dict[str, str] = {}
    for line in listing.split(b"\n"):
        commit, tab, name = line.partition(b"\t")
        if not tab or not _is_id(commit):
            continue
        ref = name.decode("utf-8", "replace")
        if ref.endswith("^{}"):
            peeled[ref.removesuffix("^{}")] = commit.decode("ascii")
        else:
            refs[ref] = commit.decode("ascii")
    return refs | peeled


def near_misses(version: str, known: Iterable[str], count: int = 5) -> tuple[str, ...]:
    """Names like the one asked for: the same release, then what is spelled alike, then the newest before it."""
    names = sorted(set(known), key=release_order)
    wanted = numbers(version)
    if "rc" not in version:
        proper = [name for name in names if is_release(name) or not numbers(name)]
        names = proper if any(map(is_release, proper)) else names
    same = [name for name in names if len(wanted) > 1 and numbers(name)[:2] == wanted[:2]]
    plain = {name.removeprefix("v"): name for name in names}
    alike = [plain[a] for a in difflib.get_close_matches(version.removeprefix("v"), plain, n=3, cutoff=0.6)]
    before = [name for name in names if wanted and () < numbers(name) <= wanted][:-3:-1]
    return tuple(dict.fromkeys([*same[:count], *alike, *before]))[:count]


def unknown_version(version: str, known: Iterable[str], where: str) -> UnknownVersion:
    """The error for a version that does not exist, with near misses."""
    near = near_misses(version, known)
    hint = f"did you mean {', '.join(near)}?" if near else "`git tag` in the repository lists its releases"
    return UnknownVersion(f"no tag, branch or commit {version!r}", where=where, hint=hint)


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a release's tag, (2, 11, 0) of "v2.11.0-rc3"; () when it is not the tag of a release."""
    match = _RELEASE.fullmatch(version)
    return tuple(int(part[:9]) for part in match["numbers"].split(".")) if match else ()


def release_order(version: str) -> tuple[tuple[int, ...], int, str]:
    """A sort key for releases: by number, release candidates before their release, post releases after it."""
    match = _RELEASE.fullmatch(version)
    if match is None:
        return (), 0, version
    turn = 0 if match["before"] else 1 if match["post"] is None else 2 + int(match["post"][:9] or "0")
    return numbers(version), turn, version


def is_release(tag: str) -> bool:
    """Whether a tag names a release proper: v2.11.0 or v1.0.0.post2, not v2.11.0-rc3 and not ciflow/trunk/1."""
    match = _RELEASE.fullmatch(tag)
    return match is not None and not match["before"] and "." in match["numbers"]


def _is_id(text: bytes) -> bool:
    return len(text) in {40, 64} and all(c in b"0123456789abcdef" for c in text)
