# SPDX-License-Identifier: BSD-3-Clause
"""Jinja2 set-up: escaping on, undefined names are errors, white space at the start of template lines dropped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.compiler import CodeGenerator
from jinja2.ext import Extension
from markupsafe import Markup, escape

from cartographer import resources
from cartographer.render import urls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import nodes
    from jinja2.compiler import Frame

    from cartographer.render.pages.frame import Receipt


class _Unindent(Extension):
    """Templates are indented for people; pages need not carry the indentation, which would be a fifth of their size."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:  # noqa: ARG002
        return re.sub(r"\n\s+", "\n", source)


_SIGN = re.compile(r"[&<>'\"]")


def escaped(value: Any) -> str:
    """A value as it stands in a page. Most texts hold no sign to escape, and the page is joined from plain strings anyway."""
    if type(value) is str and _SIGN.search(value) is None:
        return value
    return escape(value)


class _Plainly(CodeGenerator):
    """Compiles templates that escape by `escaped`, which takes half the time of Markup's own."""

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: CodeGenerator._FinalizeInfo) -> None:  # noqa: ARG002
        assert frame.eval_ctx.autoescape
        assert finalize.src is None
        self.write("environment.escaped(")


class _Pages(Environment):
    """The environment of all pages."""

    code_generator_class = _Plainly
    escaped = staticmethod(escaped)


def create() -> Environment:
    """The environment all pages are written with."""
    environment = _Pages(
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
        receipt=receipt, receipts=receipts, thousands=thousands, href=urls.href, svg=Markup, soft=soft, plural=plural, signs=signs, attribute=attribute,
        way=lambda address, page: urls.relative(page, address),
    )
    return environment


_BARE = re.compile(r"[\w:/.#%@+,~-]+")


def receipt(place: Receipt | None) -> Markup:
    """Where a statement was read, as a link to the pinned line; generated files are plain text."""
    if place is None:
        return Markup()
    if place.url is None:
        return Markup(f"<span class=r>{escape(place.text)}</span>")  # noqa: S704 - escaped
    sign = "" if _BARE.fullmatch(place.url) else '"'  # most attributes need no quotes
    return Markup(f"<a href={sign}{escape(place.url)}{sign}>{escape(place.text)}</a>")  # noqa: S704 - escaped


def attribute(address: str) -> Markup:
    """`href` with an address that is percent-encoded already, in quotes where it needs them."""
    return (Markup("href={}") if _BARE.fullmatch(address) else Markup('href="{}"')).format(address)


def receipts(places: Sequence[Receipt]) -> Markup:
    """Several receipts in a row."""
    return Markup(" ").join(map(receipt, places))


def signs(stop: Any) -> Markup:
    """The class attribute of a stop of a descent."""
    found = [name for name, holds in (("gen", stop.generated), ("common", stop.common), ("end", stop.end)) if holds]
    return Markup(f' class="{" ".join(found)}"') if found else Markup()  # noqa: S704 - names of ours


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
