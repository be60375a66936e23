# SPDX-License-Identifier: BSD-3-Clause
"""Draws edges that look drawn by hand, and are the same in every build.

A straight edge is cut into steps of 45 to 70 units, its inner points shifted across it, joined by quadratic curves. The
shift is seeded by the two end points, in whatever order, so that the same edge is always the same and neighbours share it.
"""

from __future__ import annotations

import hashlib
import math
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Point = tuple[float, float]


def _shifts(a: Point, b: Point) -> Iterator[float]:
    """Endless numbers between -1 and 1 that depend on the two points alone."""
    seed = f"{a[0]:.1f} {a[1]:.1f} {b[0]:.1f} {b[1]:.1f}".encode()
    round_ = 0
    while True:
        for byte in hashlib.sha256(seed + round_.to_bytes(2, "big")).digest():
            yield byte / 127.5 - 1
        round_ += 1


def edge(a: Point, b: Point, reach: float = 1.6) -> str:
    """The SVG path from a to b as quadratic curves, without the move to a."""
    if b < a:
        return _back(b, a, reach)
    return "".join(f"Q{_xy(control)} {_xy(end)}" for control, end in _curves(a, b, reach))


def _back(a: Point, b: Point, reach: float) -> str:
    curves = list(_curves(a, b, reach))
    starts = [a, *(end for _control, end in curves[:-1])]
    return "".join(f"Q{_xy(control)} {_xy(start)}" for (control, _end), start in zip(reversed(curves), reversed(starts), strict=True))


def _curves(a: Point, b: Point, reach: float) -> Iterator[tuple[Point, Point]]:
    length = math.dist(a, b)
    steps = max(1, round(length / 57))
    across = ((a[1] - b[1]) / length, (b[0] - a[0]) / length) if length else (0.0, 0.0)
    shifts = _shifts(a, b)
    for step in range(1, steps + 1):
        middle, share = (step - 0.5) / steps, step / steps
        bend = next(shifts) * reach * 0.7
        shift = next(shifts) * reach if step < steps else 0.0
        yield _at(a, b, middle, across, bend), _at(a, b, share, across, shift)


def _at(a: Point, b: Point, share: float, across: Point, shift: float) -> Point:
    return a[0] + (b[0] - a[0]) * share + across[0] * shift, a[1] + (b[1] - a[1]) * share + across[1] * shift


def _xy(point: Point) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"


def line(points: Sequence[Point], reach: float = 1.6) -> str:
    """An open SVG path through points that do not move."""
    return f"M{_xy(points[0])}" + "".join(edge(a, b, reach) for a, b in pairwise(points))


def area(points: Sequence[Point], reach: float = 1.6) -> str:
    """A closed SVG path through points that do not move."""
    return line([*points, points[0]], reach) + "Z"


def box(x: float, y: float, width: float, height: float, reach: float = 1.0) -> str:
    """The SVG path of a rectangle."""
    return area([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], reach)
