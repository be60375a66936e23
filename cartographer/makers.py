# SPDX-License-Identifier: BSD-3-Clause
"""Digests of what a kept result was made by: our own sources, and the libraries that influence it. Another program may say something else,
so its results stand under another digest.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cartographer import resources

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGE = Path(__file__).resolve().parent
_SHIPPED = ("templates", "site")


@cache
def sources_digest(*globs: str, packages: tuple[str, ...] = ()) -> str:
    """A digest of the sources that the globs name, in our package or among what is shipped beside it (`templates/...`, `site/...`),
    and of the versions of some packages.
    """
    digest = hashlib.sha256("".join(f"{name} {_version(name)}\n" for name in packages).encode())
    for glob in globs:
        for name, path in files_of(glob):
            digest.update(f"{name}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def files_of(glob: str) -> Iterator[tuple[str, Path]]:
    """(name, path) of the sources that a glob names, sorted; the name does not depend on where we are installed."""
    first, _, rest = glob.partition("/")
    root, pattern = (resources.folder(first), rest) if first in _SHIPPED else (_PACKAGE, glob)
    for path in sorted(root.glob(pattern)):
        if path.suffix != ".pyc" and path.is_file():
            yield path.relative_to(root).as_posix(), path


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:  # installed by something that leaves no word on it
        return ""
