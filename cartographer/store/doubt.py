# SPDX-License-Identifier: BSD-3-Clause
"""Turns odd contents of an atlas into an error: it may come from a stranger, or from a disk that lost some of it."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cartographer.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ODD = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, AssertionError, RecursionError, MemoryError, sqlite3.Error, zlib.error)


@contextmanager
def doubting(path: Path) -> Iterator[None]:
    """Raise StoreError when a look-up inside this block meets odd contents (a cell of another type, a lost row).

    A fault of our own looks the same, so the hint names both causes; `--debug` shows the traceback.
    """
    try:
        yield
    except _ODD as error:
        raise StoreError(
            f"this atlas holds something that cannot be understood ({type(error).__name__}: {error})", where=str(path),
            hint="build the atlas again with `cartographer build`; if that does not help, it is a fault of cartographer: please report what --debug prints",
        ) from error
