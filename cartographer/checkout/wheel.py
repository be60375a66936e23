# SPDX-License-Identifier: BSD-3-Clause
"""Reads a wheel file, or an installed torch, as a `Tree` with the paths of PyTorch's repository."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cartographer.checkout.archive import WheelArchive
from cartographer.checkout.blob_ids import BlobIds, Identity, blob_id
from cartographer.checkout.versions import LANDMARKS, read_version_py, release_of
from cartographer.checkout.wheel_paths import (
    GENERATED,
    made_by_build,
    repository_path,
    says_generated,
    unwrapped,
)
from cartographer.errors import CheckoutError
from cartographer.model.source import Availability, SourceInfo, SourceKind, TreeFile, is_carried

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from cartographer.checkout.cache import Cache

_VERSION_PY = "torch/version.py"
_GENERATOR = "torchgen/gen.py"


class Members(Protocol):
    """The interface of a set of packed files: a wheel, or the folder in which one was installed."""

    @property
    def path(self) -> Path:
        """The path of the wheel, or of the folder."""

    def names(self) -> dict[str, os.stat_result]:
        """Every member with its file status, which tells whether the member has changed."""

    def read(self, name: str) -> bytes:
        """The bytes of one member. Raises CheckoutError."""

    def check_total(self, names: list[str]) -> None:
        """Raise CheckoutError for members that are too large together."""

    def close(self) -> None:
        """Close the files that are held open."""


@dataclass(frozen=True, slots=True)
class _Packed:
    """One file of the tree and the member that holds it."""

    file: TreeFile
    member: str


class WheelTree:
    """The text files of a wheel. What the build generated is under build/, apart from PyTorch's own files."""

    def __init__(self, members: Members, cache: Cache, only: Callable[[str], bool] | None = None) -> None:
        """`only`: the paths that will be asked for; the others are left out, which spares unpacking them all."""
        self._members = members
        names = members.names()
        self.info = self._describe(names)
        self._packed = self._pack(names, BlobIds(cache, str(members.path)), only)
        self._files = tuple(self._packed[path].file for path in sorted(self._packed))
        self._damaged: set[str] = set()
        if LANDMARKS[0] not in self._packed:
            raise CheckoutError(
                f"the wheel of {self.info.version} carries no operator list: looked for torchgen/packaged/ATen/native/native_functions.yaml",
                where=str(members.path), hint="wheels carry it since 1.12; for an older release use the clone: leave out --from wheel",
            )

    def files(self) -> tuple[TreeFile, ...]:
        """All text files of the wheel, sorted by path."""
        return self._files

    def read(self, path: str) -> bytes:
        """The bytes of one file, as the repository has them. Raises CheckoutError."""
        packed = self._packed.get(path)
        if packed is None:
            shipped = self.availability(path) is Availability.ABSENT
            why = f"{self.info.version} has no such file" if shipped else "a wheel does not carry this file"
            raise CheckoutError(why, where=f"{self.info.described}:{path}", hint=None if shipped else "the clone has it: build without --from wheel")
        return unwrapped(packed.member, self._members.read(packed.member))

    def read_many(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(path, bytes) in the order asked for; unreadable ones are left out."""
        for path in paths:
            if path in self._packed:
                try:
                    data = self.read(path)
                except CheckoutError:
                    self._damaged.add(path)
                    continue
                yield path, data

    def availability(self, path: str) -> Availability:
        """Whether the bytes of a path can be read, and if not, why."""
        if path in self._damaged:
            return Availability.MISSING_BLOB
        if path in self._packed:
            return Availability.PRESENT
        return Availability.ABSENT if is_carried(path) else Availability.NOT_SHIPPED

    def missing(self) -> tuple[str, ...]:
        """The files that turned out to be damaged."""
        return tuple(sorted(self._damaged))

    def generated(self) -> tuple[TreeFile, ...]:
        """The files that the build made, all under build/."""
        return tuple(file for file in self._files if file.path.startswith(GENERATED))

    def close(self) -> None:
        """Close the file of the wheel."""
        self._members.close()

    def _describe(self, names: dict[str, os.stat_result]) -> SourceInfo:
        if _VERSION_PY not in names:
            raise CheckoutError(
                f"not a wheel of torch: looked for {_VERSION_PY}", where=str(self._members.path),
                hint="give a torch-VERSION-...whl file from the package index",
            )
        version, commit = read_version_py(self._members.read(_VERSION_PY).decode("utf-8", "replace"))
        if version is None:
            raise CheckoutError(f"{_VERSION_PY} states no version", where=str(self._members.path))
        return SourceInfo(SourceKind.WHEEL, version.partition("+")[0], f"v{release_of(version)}", commit, self._members.path.name)

    def _pack(self, names: dict[str, os.stat_result], memory: BlobIds, only: Callable[[str], bool] | None) -> dict[str, _Packed]:
        """Repository path -> member. Where two members stand for one path, torchgen's own copy wins."""
        wanted = {member: path for member in sorted(names) if (path := repository_path(member)) is not None}
        if only is not None:
            wanted = {member: path for member, path in wanted.items() if path in LANDMARKS or only(path)}
        self._members.check_total(list(wanted))
        generator = self._members.read(_GENERATOR) if _GENERATOR in names else b""
        packed: dict[str, _Packed] = {}
        for member, path in wanted.items():
            identity = memory.known(member, names[member])
            if identity is None:
                data = self._members.read(member)
                made = made_by_build(member, names.keys(), generator) or says_generated(data)
                data = unwrapped(member, data)
                identity = Identity(blob_id(data), len(data), made)
                memory.remember(member, names[member], identity)
            place = GENERATED + path if identity.generated else path
            if place not in packed or member.startswith("torchgen/packaged/"):
                packed[place] = _Packed(TreeFile(place, identity.blob, identity.size), member)
        if only is None:  # the memory forgets what it was not asked for
            memory.save()
        return packed


def open_wheel(path: Path, cache: Cache, only: Callable[[str], bool] | None = None) -> WheelTree:
    """Open a .whl file as a tree. Raises CheckoutError."""
    real = path.expanduser().absolute()
    if not real.is_file():
        raise CheckoutError("no such wheel", where=str(real), hint="--source takes an unpacked PyTorch, a .whl file or the word `installed`")
    return WheelTree(WheelArchive(real), cache, only)
