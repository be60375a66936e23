# SPDX-License-Identifier: BSD-3-Clause
"""Finds out which release a tree is, from what PyTorch's own files say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cartographer.errors import CheckoutError

if TYPE_CHECKING:
    from collections.abc import Callable

# One of each group must exist; the paths moved over the releases (aten/src/ATen/native since 0.4).
LANDMARKS = ("aten/src/ATen/native/native_functions.yaml", "torch/__init__.py")
# The files that tell which release a tree is (see find_version).
WITNESSES = (*LANDMARKS, "torch/version.py", "version.txt", "debian/changelog")

_ASSIGNED = re.compile(r"^(?:__version__|git_version)\s*(?::[^=]*)?=\s*['\"]([^'\"\n]*)['\"]", re.MULTILINE)
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_DEBIAN = re.compile(r"^pytorch\S* \((?:\d+:)?([0-9][0-9.]*)", re.MULTILINE)
_FOLDER = re.compile(r"(?:py)?torch[-_]v?(\d+(?:\.\d+)+)\b", re.IGNORECASE)


def release_of(version: str) -> str:
    """The release that a version belongs to: 2.6.0 of "2.6.0a0+git1a2b3c4", "2.6.0+cpu" and "2.6.0"."""
    match = _VERSION.match(version.strip())
    return match[0] if match else version.strip()


def read_version_py(text: str) -> tuple[str | None, str | None]:
    """(version, commit) as torch/version.py states them; read as text, never run."""
    version = commit = None
    for match in _ASSIGNED.finditer(text):
        if match[0].startswith("__version__"):
            version = match[1]
        elif re.fullmatch(r"[0-9a-f]{40}", match[1]):
            commit = match[1]
    return version, commit


def find_version(read: Callable[[str], str | None], folder: str) -> str | None:
    """The version of a tree without tags, from the most reliable witness to the least reliable.

    `version.txt` of a release is still "1.13.0a0" for every 1.13.x, so the changelog of a distribution's package and
    the name of the unpacked folder go before it when they speak of the same minor release.
    """
    built, _ = read_version_py(read("torch/version.py") or "")
    if built:
        return built
    stated = (read("version.txt") or "").strip()
    stated = stated if _VERSION.match(stated) else ""
    debian = _DEBIAN.search(read("debian/changelog") or "")
    named = _FOLDER.search(folder)
    for witness in (debian, named):
        if witness and (not stated or _minor(witness[1]) == _minor(stated)):
            return witness[1]
    if stated:
        return stated
    return None


def version_of_commit(stated: str | None, commit: str, name: str) -> str:
    """The version of a commit that no tag names, as PyTorch's setup.py composes it: 2.12.0a0+git1a2b3c4."""
    base = stated.strip() if stated and _VERSION.match(stated.strip()) else name
    return f"{base}+git{commit[:7]}"


def too_old(why: str, where: str) -> CheckoutError:
    """The error for a PyTorch from before there was a list of operators."""
    return CheckoutError(
        f"this PyTorch is too old: {why}", where=where,
        hint="the oldest release that can be built is v1.0.0: before it most operators were declared in Declarations.cwrap and bound by hand",
    )


def require_whole_list(has: Callable[[str], bool], where: str) -> None:
    """Raise CheckoutError when most operators are outside the list: in the Declarations.cwrap of the time before c10."""
    if has("aten/src/ATen/Declarations.cwrap") and not has("c10/macros/Macros.h"):
        raise too_old(f"most of its operators stand in Declarations.cwrap and not in {LANDMARKS[0]}", where)


def require_pytorch(has: Callable[[str], bool], where: str) -> None:
    """Raise CheckoutError unless the tree has the paths that every PyTorch has."""
    lacking = [path for path in LANDMARKS if not has(path)]
    if lacking == [LANDMARKS[0]] and has("torch/csrc/Module.cpp"):
        raise too_old(f"it has no {LANDMARKS[0]}", where)
    if lacking:
        raise CheckoutError(
            f"not a PyTorch tree: looked for {' and '.join(LANDMARKS)}, and found no {' and no '.join(lacking)}", where=where,
            hint="name the top folder of PyTorch's source, the one that holds aten/, c10/ and torch/",
        )


def is_safe(path: str) -> bool:
    """Whether a path stays inside the tree that it is relative to, and is text that can be written to files."""
    if not path or path.startswith("/") or "\x00" in path or "\\" in path or re.match(r"[A-Za-z]:", path):
        return False
    if not path.isascii() and any("\ud800" <= character <= "\udfff" for character in path):
        return False  # bytes that are no UTF-8
    return not any(part in {"", ".", ".."} for part in path.split("/"))


def _minor(version: str) -> tuple[str, ...]:
    return tuple(release_of(version).split(".")[:2])
