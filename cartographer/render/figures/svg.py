# SPDX-License-Identifier: BSD-3-Clause
"""Makes small pieces of SVG as text; everything from outside is escaped."""

from __future__ import annotations

from html import escape


def path(data: str, css: str = "", style: str = "") -> str:
    """An SVG `<path>` with this data."""
    return f"<path{_css(css)}{_style(style)} d='{data}'/>"


def text(x: float, y: float, words: str, css: str = "", anchor: str = "", style: str = "") -> str:
    """An SVG `<text>`: one line of words at a point."""
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:g}" y="{y:g}"{_css(css)}{where}{_style(style)}>{escape(words)}</text>'


def link(address: str, inside: str) -> str:
    """An SVG link around other pieces; `address` is an href, already quoted."""
    return f'<a href="{escape(address)}">{inside}</a>'


def circle(x: float, y: float, radius: float, css: str = "", style: str = "") -> str:
    """An SVG `<circle>` with this centre and radius."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}"{_css(css)}{_style(style)}/>'


def picture(width: float, height: float, name: str, title: str, description: str, inside: str, css: str = "") -> str:
    """A whole figure as `<svg>`, with a title and a description; one with links inside is a group, so that screen readers can reach them."""
    role = "group" if "<a " in inside else "img"
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="{role}" aria-labelledby="{name}-t {name}-d"{_css(css)}>'
        f'<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(description)}</desc>{inside}</svg>'
    )


def cut(words: str, characters: int) -> str:
    """Words cut to a length, with an ellipsis."""
    return words if len(words) <= characters else words[: characters - 1] + "…"


def _css(css: str) -> str:
    return f' class="{css}"' if css else ""


def _style(style: str) -> str:
    return f' style="{style}"' if style else ""
