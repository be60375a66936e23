# SPDX-License-Identifier: BSD-3-Clause
"""Collects what the frame of every page (header, navigation, assets) needs to know about the site as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cartographer.render.terrain import FLOORS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markupsafe import Markup

    from cartographer.render.pages.frame import Link
    from cartographer.render.site import Site


@dataclass(frozen=True, slots=True)
class SiteFrame:
    """The version, the navigation and the assets: the same on every page."""

    version: str
    tag: str
    commit: str
    plates: tuple[Link, ...]
    collected: bool  # the folder above lists this atlas and others
    assets: Mapping[str, str]
    floors: tuple[str, ...]
    drawn: dict[tuple[object, ...], Markup] = field(default_factory=dict, compare=False)  # parts of the frame that many pages share


def frame_of(site: Site, assets: Mapping[str, str]) -> SiteFrame:
    """The frame of a site; the navigation has only pages that exist."""
    source = site.catalog.source
    return SiteFrame(source.version, source.tag, source.commit or "", site.plates, site.collected, assets, FLOORS)
