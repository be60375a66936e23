# SPDX-License-Identifier: BSD-3-Clause
"""Jinja2 set-up: escaping on, undefined names are errors, white space at the start of template lines dropped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.ext import Extension
from markupsafe import Markup, escape

from cartographer import resources
from cartographer.render import urls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cartographer.render.pages.frame import Receipt


class _Unindent(Extension):
    """Templates are indented for people; pages need not carry the indentation, which would be a fifth of their size."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:  # noqa: ARG002
        return re.sub(r"\n\s+", "\n", source)


def create() -> Environment:
    """The environment all pages are written with."""
    environment = Environment(
        loader=FileSystemLoader(resources.folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
        extensions=[_Unindent],
    )
    environment.filters.update(
        receipt=receipt, receipts=receipts, thousands=thousands, href=urls.href, svg=Markup, soft=soft, plural=plural, signs=signs,
        way=lambda address, page: urls.relative(page, address),
    )
    return environment


_BARE = re.compile(r"[\w:/.#%@+,~-]+")


def receipt(place: Receipt | None) -> Markup:
    """Where a statement was read, as a link to the pinned line; generated files are plain text."""
    if place is None:
        return Markup()
    if place.url is None:
        return Markup("<span class=r>{}</span>").format(place.text)
    if _BARE.fullmatch(place.url):  # no attribute needs quotes around it
        return Markup("<a href={}>{}</a>").format(place.url, place.text)
    return Markup('<a href="{}">{}</a>').format(place.url, place.text)


def receipts(places: Sequence[Receipt]) -> Markup:
    """Several receipts in a row."""
    return Markup(" ").join(map(receipt, places))


def signs(stop: Any) -> Markup:
    """The class attribute of a stop of a descent."""
    found = [name for name, holds in (("gen", stop.generated), ("common", stop.common), ("end", stop.end)) if holds]
    return Markup(' class="{}"').format(" ".join(found)) if found else Markup()


def thousands(number: int) -> str:
    """`2,633`."""
    return f"{number:,}"


def plural(number: int, one: str, many: str | None = None) -> str:
    """`1 file`, `2,633 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


_BREAK = re.compile(r"(::|/|_(?=[a-z0-9]{4,}))")


def soft(name: Any, least: int = 24) -> Markup:
    """A long name of code that may break after `::`, `/` and before long parts, so that it never widens the page."""
    text = str(name)
    if len(text) < least:
        return escape(text)
    return Markup(_BREAK.sub(r"\1<wbr>", str(escape(text))))  # noqa: S704 - escaped before the breaks are put in
