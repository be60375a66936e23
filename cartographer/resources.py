# SPDX-License-Identifier: BSD-3-Clause
"""Finds the shipped folders templates/, site/ and the demo's sources: in a checkout beside the package, in a wheel inside it."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_DATA = _PACKAGE / "_data"


def folder(name: str) -> Path:
    """The folder of shipped files called `name` ("templates", "site", "mini_torch")."""
    if _DATA.is_dir():
        return _DATA / name
    return _PACKAGE.parent / ("fixtures/mini_torch" if name == "mini_torch" else name)
