# SPDX-License-Identifier: BSD-3-Clause
"""Finds the torch that a Python has installed, without importing it."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from cartographer.checkout.directory import DirectoryTree, read_regular, walk
from cartographer.checkout.versions import LANDMARKS
from cartographer.checkout.wheel import WheelTree
from cartographer.errors import CheckoutError

if TYPE_CHECKING:
    import os

    from cartographer.checkout.cache import Cache

_PACKAGES = ("torch", "torchgen", "functorch", "caffe2")
# Run by another Python. find_spec of a top-level package imports nothing.
_ASK = "import importlib.util as u; s = u.find_spec('torch'); print(s.origin if s and s.origin else '')"


class InstalledFiles:
    """The packages of an installed torch, with the names that their files have in a wheel."""

    def __init__(self, site: Path) -> None:
        self.path = site

    def names(self) -> dict[str, os.stat_result]:
        """Every file of torch's packages, with its file status."""
        return {
            f"{package}/{name}": status
            for package in _PACKAGES if (self.path / package).is_dir()
            for name, status in walk(f"{self.path}/{package}", frozenset({"lib", "bin", "share"} if package == "torch" else ()))
        }

    def read(self, name: str) -> bytes:
        """The bytes of one file. Raises CheckoutError."""
        try:
            return read_regular(f"{self.path}/{name}")
        except OSError as error:
            raise CheckoutError(f"cannot be read: {error.strerror or error}", where=f"{self.path}/{name}") from error

    def check_total(self, names: list[str]) -> None:
        """Does nothing: the files are on the user's own disk already, so none is too large."""

    def close(self) -> None:
        """Does nothing: no file is held open."""


def find_site(python: Path | None) -> Path:
    """The folder that contains the `torch` package of a Python (None: the running one). Raises CheckoutError."""
    origin = _ask(python) if python is not None else _own()
    if not origin:
        raise CheckoutError(
            "torch is not installed for this Python", where=str(python) if python else None,
            hint="install torch, or read a wheel (--from wheel) or the repository (no --source at all)",
        )
    return Path(origin).resolve().parent.parent


def open_installed(cache: Cache, python: Path | None = None) -> WheelTree | DirectoryTree:
    """The installed torch as a tree; of a development install the checkout that it points to."""
    site = find_site(python)
    if (site / LANDMARKS[0]).is_file():
        return DirectoryTree(site, cache)
    return WheelTree(InstalledFiles(site), cache)


def _own() -> str | None:
    try:
        spec = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        return None
    return spec.origin if spec is not None else None


def _ask(python: Path) -> str:
    try:
        done = subprocess.run([str(python), "-c", _ASK], capture_output=True, check=True, timeout=60, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None)
        words = said.decode("utf-8", "replace").strip().splitlines()[-1:] if said else [str(error)]
        raise CheckoutError(f"this Python does not run: {' '.join(words)}", where=str(python)) from error
    return done.stdout.decode("utf-8", "replace").strip()
