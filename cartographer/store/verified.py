# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the outcome of comparing an atlas with a running torch beside its database, for the page of sources and checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from cartographer.atomic import write_whole

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "verified.json"


class Outcome(msgspec.Struct, frozen=True):
    """How many things of one kind were compared, and how many differ for which cause."""

    name: str
    compared: int
    agreeing: int
    platform: int
    version: int
    ours: int


class Verified(msgspec.Struct, frozen=True):
    """The outcome of one comparison; `inputs` are those of the atlas that was compared."""

    torch: str
    sections: tuple[Outcome, ...]
    inputs: str


def keep(folder: Path, verified: Verified) -> None:
    """Write the outcome beside the atlas. Raises OSError."""
    write_whole(folder / FILE_NAME, msgspec.json.encode(verified) + b"\n")


def kept(folder: Path, inputs: str) -> Verified | None:
    """The outcome that was kept for an atlas with these inputs; None when there is none, or when it is of another atlas."""
    try:
        found = msgspec.json.decode((folder / FILE_NAME).read_bytes(), type=Verified)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return found if found.inputs == inputs else None
