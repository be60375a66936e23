# SPDX-License-Identifier: BSD-3-Clause
"""Packs the comparison with the release before into one value of the database, and unpacks it."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import msgspec

from cartographer.errors import StoreError
from cartographer.model.change import Comparison

if TYPE_CHECKING:
    from pathlib import Path


def packed(found: Comparison | None) -> bytes | None:
    """A comparison as compressed JSON; the same comparison gives the same bytes."""
    return None if found is None else zlib.compress(msgspec.json.encode(found), 9)


def unpacked(data: bytes | None, where: Path) -> Comparison | None:
    """The comparison that `packed` compressed; None for an atlas that was not compared. Raises StoreError that names the file `where`."""
    if data is None:
        return None
    try:
        return msgspec.json.decode(zlib.decompress(data), type=Comparison)
    except (TypeError, zlib.error, msgspec.MsgspecError) as error:
        raise StoreError(f"the atlas is damaged: what changed since the release before cannot be read ({error})", where=str(where),
                         hint="build the atlas again with `cartographer build`") from error  # fmt: skip
