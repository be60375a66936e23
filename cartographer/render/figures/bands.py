# SPDX-License-Identifier: BSD-3-Clause
"""Draws the age of the source by year: lines that exist today, by the year they came in, one band for each territory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.render.figures import svg

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

WIDTH, HEIGHT = 1080, 470
_LEFT, _RIGHT, _TOP, _BOTTOM = 74, 200, 80, 436


def draw(years: Sequence[tuple[str, Sequence[int]]], keys: Sequence[str], names: Mapping[str, str]) -> str:
    """A stacked area chart as SVG; each point is counted at the end of a year."""
    totals = [[0] * len(keys)]
    for _year, counts in years:
        totals.append([before + more for before, more in zip(totals[-1], counts, strict=True)])
    points = totals[1:]
    highest = max(sum(point) for point in points) or 1
    step = (WIDTH - _LEFT - _RIGHT) / max(1, len(points) - 1)

    def x(index: int) -> float:
        return _LEFT + index * step

    def y(lines: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * lines / highest

    pieces = [_grid(highest, y)]
    floors = [0.0] * len(points)
    labels: list[tuple[float, str, str]] = []
    for number, key in enumerate(keys):
        tops = [floor + point[number] for floor, point in zip(floors, points, strict=True)]
        upper = " ".join(f"{x(i):.1f} {y(top):.1f}" for i, top in enumerate(tops))
        lower = " ".join(f"{x(i):.1f} {y(floors[i]):.1f}" for i in reversed(range(len(points))))
        pieces.append(f'<g class="ft-{key}"><path class="terr" d="M{upper} L{lower}Z"/></g>')
        labels.append((y((floors[-1] + tops[-1]) / 2), names[key], f"{points[-1][number]:,}"))
        floors = [float(top) for top in tops]
    pieces.append(_labels(labels, x(len(points) - 1)))
    pieces += [
        svg.text(x(i), _BOTTOM + 20, year, "tiny", "middle") for i, (year, _counts) in enumerate(years) if len(years) <= 16 or i % 2 == 0
    ]
    pieces.append(svg.path(f"M{_LEFT} {_BOTTOM}H{WIDTH - _RIGHT}", "ink"))
    return svg.picture(
        WIDTH, HEIGHT, "strata", "The ground by year",
        "Lines that stand today, added up by the year they came in, one bed for each territory. The table below has the numbers.",
        "".join(pieces),
    )  # fmt: skip


def _grid(highest: int, y: Callable[[float], float]) -> str:
    step = 10 ** (len(str(highest)) - 1)
    step = step if highest / step >= 3 else step // 2 or 1
    pieces = []
    for value in range(0, highest + 1, step):
        height = y(value)
        pieces.append(svg.path(f"M{_LEFT} {height:.1f}H{WIDTH - _RIGHT}", "hair"))
        words = f"{value / 1_000_000:g} M" if step >= 100_000 and value else f"{value:,}"
        pieces.append(svg.text(_LEFT - 8, height + 4, words, "tiny", "end"))
    return "".join(pieces)


def _labels(labels: list[tuple[float, str, str]], right: float) -> str:
    """Names at the right end, pushed apart so that none lies on another, each with a leader to its bed."""
    placed: list[float] = []
    pieces = []
    for height, name, count in sorted(labels, reverse=True):
        at = min(height, placed[-1] - 32) if placed else height
        placed.append(at)
        pieces.append(svg.path(f"M{right:.1f} {height:.1f}L{right + 14:.1f} {at:.1f}", "thin"))
        pieces.append(svg.text(right + 18, at + 1, name) + svg.text(right + 18, at + 14, count + " lines", "tiny"))
    return "".join(pieces)
