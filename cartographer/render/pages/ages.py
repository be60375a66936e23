# SPDX-License-Identifier: BSD-3-Clause
"""Computes age bars: the share of each era in a file or folder, the oldest at the left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cartographer.render.ground import Ground


@dataclass(frozen=True, slots=True)
class Band:
    """The share of one era in an age bar."""

    name: str
    css: str
    share: str  # per cent, with one digit
    label: str  # shown in the bar from 8 % up
    lines: int


@dataclass(frozen=True, slots=True)
class AgeBar:
    """An age bar, and the words that say the same."""

    bands: tuple[Band, ...]
    says: str


def age_bar(ground: Ground, counts: tuple[int, ...] | None) -> AgeBar | None:
    """The age bar of a file or folder; None when nothing in it is dated."""
    if not counts or not sum(counts):
        return None
    total = sum(counts)
    bands = []
    for index, lines in enumerate(counts):
        if not lines:
            continue
        share = 100 * lines / total
        undated = index == len(counts) - 1
        name = "no date" if undated else ground.eras[index].name
        css = "undated" if undated else f"e{ground.pattern(index)}"
        bands.append(Band(name, css, f"{share:.1f}", f"{share:.0f} %" if share >= 8 else "", lines))
    return AgeBar(tuple(bands), "; ".join(f"{band.name} {band.share} %" for band in bands))
