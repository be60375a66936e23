# SPDX-License-Identifier: BSD-3-Clause
"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(target: Path, data: bytes) -> None:
    """Write a file beside its place and swap it in: a reader sees the old bytes or the new ones. Raises OSError."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
