# SPDX-License-Identifier: BSD-3-Clause
"""Reads a wheel file in place: nothing is unpacked to disk, and an archive that could do harm is refused."""

from __future__ import annotations

import os
import stat
import struct
import threading
import zipfile
import zlib
from typing import TYPE_CHECKING

from cartographer.checkout.versions import is_safe
from cartographer.errors import CheckoutError

if TYPE_CHECKING:
    from pathlib import Path

# A wheel of torch holds some 13,000 members; the texts of one are 70 MB together, the longest 2 MB.
MOST_MEMBERS = 200_000
LARGEST_TEXT = 32 << 20
LARGEST_TOTAL = 1 << 30
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED = 0x1


class WheelArchive:
    """The members of a .whl file by name, each checked before it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mutex = threading.Lock()
        self._owner = os.getpid()
        try:
            self.status: os.stat_result = path.stat()
            self._zip = zipfile.ZipFile(path)
        except (OSError, EOFError, zipfile.BadZipFile, ValueError, ArithmeticError, struct.error, RuntimeError) as error:
            raise CheckoutError(
                f"not a readable wheel: {error}", where=str(path),
                hint="download it again: the file may be cut short" if path.suffix == ".whl" else "--source takes a .whl file or a folder: of a source archive, unpack it and name its folder",
            ) from error
        self._check()
        self._members = {info.filename: info for info in self._zip.infolist() if not info.filename.endswith("/")}

    def names(self) -> dict[str, os.stat_result]:
        """All members; each has the file status of the archive."""
        return dict.fromkeys(self._members, self.status)

    def read(self, name: str) -> bytes:
        """The bytes of one member. Raises CheckoutError when it is damaged or too large."""
        info = self._members[name]
        if info.file_size > LARGEST_TEXT:
            raise self._refusal(f"{name!r} would be {info.file_size >> 20} MB")
        try:
            with self._mutex, self._opened().open(info) as member:
                data = member.read(LARGEST_TEXT + 1)
        except (OSError, EOFError, ValueError, RuntimeError, ArithmeticError, struct.error, zipfile.BadZipFile, zlib.error) as error:
            raise CheckoutError(f"damaged member {name!r}: {error}", where=str(self.path), hint="download the wheel again") from error
        if len(data) > LARGEST_TEXT:
            raise self._refusal(f"{name!r} is larger than it says")
        return data

    def check_total(self, names: list[str]) -> None:
        """Refuse to read members that are too large together."""
        total = sum(self._members[name].file_size for name in names)
        if total > LARGEST_TOTAL:
            raise self._refusal(f"its texts would be {total >> 20} MB")

    def close(self) -> None:
        """Close the file of the archive."""
        self._zip.close()

    def _opened(self) -> zipfile.ZipFile:
        """In a copy of the process the archive is opened anew: two that read one open file move each other's place in it."""
        if self._owner != os.getpid():
            self._zip, self._owner = zipfile.ZipFile(self.path), os.getpid()
        return self._zip

    def _check(self) -> None:
        infos = self._zip.infolist()
        if len(infos) > MOST_MEMBERS:
            raise self._refusal(f"{len(infos)} members")
        seen = set()
        for info in infos:
            name = info.filename
            if info.orig_filename != name and info.orig_filename.replace("\\", "/") != name:
                raise self._refusal(f"the name {info.orig_filename!r}")
            if not is_safe(name.removesuffix("/")) or "\\" in info.orig_filename:
                raise self._refusal(f"the name {name!r} leaves the archive")
            if name in seen:
                raise self._refusal(f"{name!r} stands in it twice")
            seen.add(name)
            kind = stat.S_IFMT(info.external_attr >> 16)
            if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
                raise self._refusal(f"{name!r} is a link or device")
            if info.flag_bits & _ENCRYPTED or info.compress_type not in _METHODS:
                raise self._refusal(f"{name!r} is encrypted or packed in an unknown way")

    def _refusal(self, reason: str) -> CheckoutError:
        return CheckoutError(f"this wheel is not to be trusted: {reason}", where=str(self.path), hint="get the wheel from the package index again")
