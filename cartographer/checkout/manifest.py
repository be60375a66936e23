# SPDX-License-Identifier: BSD-3-Clause
"""Decides which files of a tree are scanned, in which language, and why the others are not; pure functions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from cartographer.checkout.wheel_paths import GENERATED
from cartographer.model.location import Language, language_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cartographer.model.source import TreeFile

# The territories: what a build of PyTorch itself is made from.
ROOTS = ("aten", "c10", "caffe2", "functorch", "tools", "torch", "torchgen")
_SCANNED = frozenset({Language.CPP, Language.C, Language.CUDA, Language.OBJCXX, Language.METAL, Language.PYTHON})
_TEST_FOLDERS = frozenset({"test", "tests"})
_FOREIGN_FOLDERS = frozenset({"third_party", "third-party", "node_modules"})
_LICENCES = ("LICENSE", "LICENCE", "COPYING")
# The longest file of PyTorch's own is 2.2 MB (the tables of SobolEngineOpsUtils.cpp). Longer ones are data, or a trap.
LARGEST = 4 << 20


class Exclusion(Enum):
    """The reasons why a file is not scanned."""

    OUTSIDE = "outside torch/, aten/, c10/, caffe2/, functorch/, torchgen/ and tools/"
    THIRD_PARTY = "another project's (third_party)"
    TEST = "a test"
    GENERATED = "made by the build"
    LANGUAGE = "not in a language that is scanned"
    SIZE = "longer than 4 MB"


@dataclass(frozen=True, slots=True)
class ScopedFile:
    """A file to scan. `vendored`: it is in a folder of PyTorch's that has a licence of its own, as QNNPACK's fork does."""

    file: TreeFile
    language: Language
    vendored: bool = False


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files to scan, sorted by path, and for each reason the number of files that are not scanned."""

    files: tuple[ScopedFile, ...]
    excluded: Mapping[Exclusion, int] = field(default_factory=dict)


def manifest(files: Iterable[TreeFile]) -> Manifest:
    """Sort the files of a tree into those that are scanned and those that are not."""
    listed = sorted(files, key=lambda file: file.path)
    vendors = vendored_folders(file.path for file in listed)
    chosen = []
    excluded: Counter[Exclusion] = Counter()
    for file in listed:
        reason = exclusion(file.path, file.size)
        if reason is not None:
            excluded[reason] += 1
        else:
            chosen.append(ScopedFile(file, language_of(file.path), _is_below(file.path, vendors)))
    return Manifest(tuple(chosen), dict(excluded))


def exclusion(path: str, size: int) -> Exclusion | None:
    """The reason why one file is not scanned; None when it is scanned."""
    *folders, name = path.split("/")
    if path.startswith(GENERATED):
        return Exclusion.GENERATED
    if not folders or folders[0] not in ROOTS:
        return Exclusion.OUTSIDE
    if not _FOREIGN_FOLDERS.isdisjoint(folders):
        return Exclusion.THIRD_PARTY
    if language_of(path) not in _SCANNED:
        return Exclusion.LANGUAGE
    if not _TEST_FOLDERS.isdisjoint(folders) or (folders[0] == "caffe2" and name.rpartition(".")[0].endswith("_test")):
        return Exclusion.TEST
    return Exclusion.SIZE if size > LARGEST else None


def vendored_folders(paths: Iterable[str]) -> frozenset[str]:
    """Folders below the territories that contain a licence of their own, or are named as vendored."""
    found = set()
    for path in paths:
        *folders, name = path.split("/")
        if not folders or folders[0] not in ROOTS:
            continue
        if "_vendor" in folders:
            found.add("/".join(folders[: folders.index("_vendor") + 1]))
        elif len(folders) > 1 and name.upper().startswith(_LICENCES):
            found.add("/".join(folders))
    return frozenset(found)


def _is_below(path: str, folders: frozenset[str]) -> bool:
    parts = path.split("/")
    return any("/".join(parts[:depth]) in folders for depth in range(1, len(parts))) if folders else False
