# SPDX-License-Identifier: BSD-3-Clause
"""Describes the source of a PyTorch (clone, folder or wheel), and the interface by which stages read its files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class SourceKind(Enum):
    """The three kinds of source, as the export names them."""

    GIT = "git"
    DIRECTORY = "directory"
    WHEEL = "wheel"


class Availability(Enum):
    """Whether the bytes of a path can be read from a tree, and if not, why."""

    PRESENT = "present"
    ABSENT = "absent"  # this PyTorch has no such file
    NOT_SHIPPED = "not in a wheel"  # it may exist in the repository, this kind of source does not carry it
    MISSING_BLOB = "blob missing"  # the tree names it, the clone lacks its content


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """Which PyTorch was read: its version, tag and commit, and where it was read from."""

    kind: SourceKind
    version: str  # "2.6.0"
    tag: str  # "v2.6.0"; the tag that the version would have when the source has none
    commit: str | None  # 40 hex digits when known (git; a wheel's torch/version.py)
    described: str  # where it was read from, for people: a path, a URL, a wheel's file name
    web: str = "https://github.com/pytorch/pytorch"  # where permalinks point

    @property
    def is_demo(self) -> bool:
        """Whether this is the small demo repository that `build --demo` makes in the cache."""
        return re.search(r"[\\/]demo[\\/]mini_torch-[0-9a-f]{8}\.git$", self.described) is not None


@dataclass(frozen=True, slots=True)
class TreeFile:
    """One file of the tree: its path in PyTorch's repository and its git blob id (computed where git is absent)."""

    path: str
    blob: str
    size: int


class HistoryLevel(Enum):
    """How much history a source has, or is asked for."""

    LINES = "lines"  # every version of every file: each line can be dated
    FILES = "files"  # commits and folders only: files can be dated, lines cannot
    NONE = "none"  # the pinned tree alone


@dataclass(frozen=True, slots=True)
class HistoryAccess:
    """Where the history stage reads, and what it may expect to find there."""

    git_dir: str
    commit: str
    level: HistoryLevel
    shallow: bool = False  # history ends at a boundary: dates there mean "before"
    reason: str = ""  # what is lacking and how to get it; "" when nothing is


class Tree(Protocol):
    """One pinned PyTorch as a set of files. Stages ask it for bytes and never for its kind."""

    @property
    def info(self) -> SourceInfo:
        """Which PyTorch this tree is, and where it was read from."""

    def files(self) -> tuple[TreeFile, ...]:
        """All files, sorted by path; paths are those of PyTorch's repository whatever the source."""

    def read(self, path: str) -> bytes:
        """The bytes of one file. Raises CheckoutError when it is absent, with the reason."""

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(path, bytes) in the order asked for; unreadable ones are left out (see `availability`)."""

    def availability(self, path: str) -> Availability:
        """Whether the bytes of a path can be read, and if not, why."""


def is_carried(path: str) -> bool:
    """Whether wheels carry every file of this kind, so that a file which the wheel lacks does not exist in the release."""
    return bool(re.fullmatch(
        r"(?:torch|functorch)/.*\.py|torchgen/(?!packaged/).*\.py|tools/autograd/(?:.*\.py|.*\.yaml|templates/.*)"
        r"|aten/src/ATen/(?:native/[^/]*\.yaml|templates/.*)", path, re.DOTALL,
    ))
