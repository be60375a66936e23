# SPDX-License-Identifier: BSD-3-Clause
"""Writes files and folders so that they are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

_HERE = -100  # AT_FDCWD of Linux
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS


def write_whole(target: Path, data: bytes) -> None:
    """Write a file beside its place and swap it in: a reader sees the old bytes or the new ones. Raises OSError."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def exchange(one: Path, other: Path) -> None:
    """Swap two folders of one file system in a single step: at no moment is either of them missing. Raises OSError."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        failed = library.renameat2(_HERE, names[0], _HERE, names[1], _EXCHANGE)
    elif sys.platform == "darwin" and hasattr(library, "renamex_np"):
        failed = library.renamex_np(*names, _EXCHANGE)
    else:
        raise OSError("this system cannot swap two folders")
    if failed:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(other))


def can_exchange(folder: Path, beside: Path) -> bool:
    """Whether `folder` can be swapped, in one step, with one made at `beside`; tried out with an empty folder."""
    try:
        if folder.is_symlink() or folder.is_mount() or Path.cwd().is_relative_to(folder.resolve()):
            return False  # whoever stands in it would stay in the old one
        trial = beside.with_name(f"{beside.name}.trial")
        beside.mkdir()
        try:
            trial.mkdir()
            try:
                if _owner(folder) != _owner(beside):
                    return False
                exchange(beside, trial)
            finally:
                trial.rmdir()
        finally:
            beside.rmdir()
    except OSError:
        return False
    return True


def complete(fresh: Path, old: Path, stays: Callable[[str], bool], folders: AbstractSet[str]) -> bool:
    """Give `fresh`, as hard links, the files of `old` that it lacks and that stay, so that it can take the place of `old`.

    False when it cannot: a folder of `old` is none of `folders`, so others may be at work in it, or links cannot be made.
    """
    try:
        shutil.copystat(old, fresh)
        return _link(fresh, old, "", stays, folders)
    except OSError:
        return False


def _link(fresh: Path, old: Path, inside: str, stays: Callable[[str], bool], folders: AbstractSet[str]) -> bool:
    with os.scandir(old / inside) as entries:
        for entry in entries:
            path = f"{inside}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if path not in folders or not _link(fresh, old, f"{path}/", stays, folders):
                    return False
            elif stays(path):
                try:
                    _link_one(entry.path, fresh / path)
                except FileExistsError:
                    if (fresh / path).is_dir():
                        return False
    return True


def _link_one(source: str, place: Path) -> None:
    try:
        os.link(source, place, follow_symlinks=False)
    except FileNotFoundError:
        place.parent.mkdir(parents=True, exist_ok=True)
        os.link(source, place, follow_symlinks=False)


def _owner(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_uid, found.st_gid
