# SPDX-License-Identifier: BSD-3-Clause
"""Draws the station map of the guide: a row for each reading line, a ring where lines share a stop."""

from __future__ import annotations

import textwrap
from collections import Counter
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_STEP, _ROW, _LEFT, _TOP = 118, 96, 92, 34


def station_map(lines: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The map as inline SVG; `lines` are (colour, stops). It has classes only, colours are in the style sheet."""
    if not lines:
        return ""
    shared = Counter(stop for _, stops in lines for stop in set(stops))
    width = _LEFT + _STEP * (max(len(stops) for _, stops in lines) - 1) + 70
    height = _TOP + _ROW * len(lines)
    parts = [
        (f'<svg viewBox="0 0 {width} {height}" role="img" aria-labelledby="stations-t stations-d" style="min-width:{width // 2}px">'
        '<title id="stations-t">Four reading lines</title>'
        '<desc id="stations-d">A row of stations for each line, in reading order; a ring marks a stop that several lines share. The same stops stand below as lists.</desc>')
    ]
    for row, (colour, stops) in enumerate(lines):
        y = _TOP + row * _ROW
        last = _LEFT + _STEP * (len(stops) - 1)
        parts.append(f'<path class="line line-{escape(colour)}" d="M{_LEFT} {y}H{last}"/>')
        parts.append(f'<text class="place" x="8" y="{y + 4}">{escape(colour)}</text>')
        for number, stop in enumerate(stops):
            x = _LEFT + number * _STEP
            ring = " shared" if shared[stop] > 1 else ""
            parts.append(f'<circle class="station{ring}" cx="{x}" cy="{y}" r="{8 if ring else 6}"/>')
            for part, words in enumerate(textwrap.wrap(stop.replace(": ", ":\n", 1).replace("\n", " "), 19)[:3]):
                parts.append(f'<text class="tiny" text-anchor="middle" x="{x}" y="{y + 24 + part * 13}">{escape(words)}</text>')
    return "".join([*parts, "</svg>"])
