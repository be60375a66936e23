# SPDX-License-Identifier: BSD-3-Clause
"""Draws the page that a server shows where there is none: in the site's style, with ways back."""

from __future__ import annotations

from typing import NamedTuple

from cartographer import resources
from cartographer.render.environment import create
from cartographer.render.pages.frame import Link
from cartographer.render.urls import MAP, OPERATORS


class Lost(NamedTuple):
    """What the page says: the release whose atlas was asked ("" when none was), and where to go from here."""

    tag: str
    ways: tuple[Link, ...]


def lost_page(tag: str, folder: str, *, collected: bool) -> bytes:
    """The page for an address without one. `folder` is where the atlas that was asked begins (`/v2.6.0/`), "" when none was asked;
    `collected`: the front page lists several.
    """
    ways = [Link("the map", f"{folder}{MAP}"), Link("all operators", f"{folder}{OPERATORS}")] if folder else []
    if collected:
        ways.append(Link("all releases", "/"))
    style = (resources.folder("site") / "style.css").read_text(encoding="utf-8")
    return create().get_template("lost.html.jinja2").render(view=Lost(tag, tuple(ways)), style=style, root="/").encode()
