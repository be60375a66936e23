# SPDX-License-Identifier: BSD-3-Clause
"""Draws the full stack: a box for each layer of software from the reader's code to the chip, each box a link; side ways beside it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.render.figures import hand, svg

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEFT, _WIDTH, _HIGH, _STEP, _TOP = 74, 420, 70, 92, 16
_SIDE, _SIDE_WIDTH = 560, 236


@dataclass(frozen=True, slots=True)
class Box:
    """One layer of the stack. `beside`: the numbers (from 0) of the boxes between which a way beside the column leaves and comes back."""

    name: str
    says: str
    floor: int
    address: str  # an href, already quoted; "" = no door
    beside: tuple[int, int] | None = None
    again: bool = False  # it calls the box above it once more


def stack(boxes: Sequence[Box]) -> str:
    """The full stack as inline SVG."""
    column = [box for box in boxes if box.beside is None]
    parts = [_box(box, _LEFT, _y(number), _WIDTH) for number, box in enumerate(column)]
    parts += [_arrow(number) for number in range(len(column) - 1)]
    parts += [_again(number) for number, box in enumerate(column) if box.again]
    parts += [_beside(box, *box.beside) for box in boxes if box.beside is not None]
    return svg.picture(
        _SIDE + _SIDE_WIDTH + 14, _y(len(column)) - 12, "stack", "The full stack",
        "Boxes from top to bottom, each below the one that calls it: " + ", ".join(f"{box.name} on floor {box.floor}" for box in column)
        + "".join(f". Beside them {box.name}" for box in boxes if box.beside) + ".",
        "".join(parts), "stackchart",
    )  # fmt: skip


def _y(number: int) -> float:
    return _TOP + number * _STEP


def _box(box: Box, x: float, y: float, width: float) -> str:
    outline = hand.box(x, y, width, _HIGH)
    inside = svg.path(outline, f"floor{box.floor}") + svg.path(outline, "ink")
    inside += svg.text(x + 16, y + 26, box.name, "place")
    inside += "".join(svg.text(x + 16, y + 44 + 14 * row, words, "tiny") for row, words in enumerate(textwrap.wrap(box.says, int(width / 6.2))[:2]))
    number = svg.text(x - 36, y + 38, str(box.floor), "num", "middle") if x == _LEFT else ""
    return number + (svg.link(box.address, inside) if box.address else inside)


def _arrow(number: int) -> str:
    x, y = _LEFT + _WIDTH / 2, _y(number) + _HIGH
    return svg.path(f"M{x:g} {y + 3:g}V{y + _STEP - _HIGH - 5:g}M{x - 5:g} {y + _STEP - _HIGH - 11:g}l5 6l5 -6", "sub")


def _again(number: int) -> str:
    """A loop at the right edge back to the box above."""
    x, y = _LEFT + _WIDTH, _y(number)
    loop = f"M{x:g} {y + 20:g}C{x + 34:g} {y + 16:g} {x + 34:g} {y - 30:g} {x + 4:g} {y - 34:g}M{x + 12:g} {y - 39:g}l-8 5l7 6"
    return svg.path(loop, "sub")


def _beside(box: Box, first: int, last: int) -> str:
    """A way that leaves the column, passes its own box, and comes back."""
    x, top, bottom = _LEFT + _WIDTH, _y(first) + _HIGH / 2, _y(last) + _HIGH / 2
    middle, y = _SIDE + _SIDE_WIDTH / 2, (top + bottom - _HIGH) / 2
    way = f"M{x + 2:g} {top:g}H{middle:g}V{y - 5:g}M{middle:g} {y + _HIGH + 3:g}V{bottom:g}H{x + 5:g}M{x + 12:g} {bottom - 5:g}l-7 5l7 5"
    return svg.path(way, "ctx dash") + _box(box, _SIDE, y, _SIDE_WIDTH)
