# SPDX-License-Identifier: BSD-3-Clause
"""Guide texts -> HTML: Markdown (the only home of markdown_it), anchors filled in, stale ones marked with the reason."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from cartographer.guide.texts import ANCHOR
from cartographer.render import urls
from cartographer.render.environment import receipt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cartographer.guide.anchors import Answer
    from cartographer.guide.places import Touch
    from cartographer.render.site import Site

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_HOLE = re.compile(r"\ue000(\d+)\ue001")
_ALONE = re.compile(r"<p>\ue000(\d+)\ue001</p>")
_HEADING = re.compile(r"<h2>(.*?)</h2>")
_TABLE = re.compile(r"<table>(.*?)</table>", re.DOTALL)
_PLATES = {
    "operators": urls.OPERATORS, "kernels": urls.KERNELS, "generated": urls.GENERATED, "strata": urls.STRATA, "checks": urls.CHECKS,
    "territory": urls.TERRITORY, "nodes": urls.NODES,
}  # fmt: skip


def guide_address(slug: str) -> str:
    """The page of a guide text; what follows # stays an anchor."""
    page, mark, anchor = slug.partition("#")
    return f"guide/{page}.html{mark}{slug_of(anchor)}" if mark else f"guide/{page}.html"


def slug_of(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


def to_html(site: Site, text: str, root: str) -> Markup:
    """The HTML of one text on a page whose way to the root is `root`."""
    holes: list[tuple[str, str]] = []

    def keep(match: re.Match[str]) -> str:
        holes.append((match[1], match[2] or ""))
        return f"\ue000{len(holes) - 1}\ue001"

    html = _MARKDOWN.render(ANCHOR.sub(keep, text))
    html = _HEADING.sub(lambda m: f'<h2 id="{slug_of(re.sub("<.*?>", "", m[1]))}">{m[1]}</h2>', html)
    html = _TABLE.sub(lambda m: f'<div class=scroll tabindex=0 role=region aria-label="Table"><table class=stack>{m[1]}</table></div>', html)
    html = html.replace("<th>", "<th scope=col>")
    html = _ALONE.sub(lambda m: str(_block(site, *holes[int(m[1])], root)), html)
    # Markdown-it has escaped the text (html is off); what fills the holes is markup of our own making.
    return Markup(_HOLE.sub(lambda m: str(inline(site, site.book.answer(*holes[int(m[1])]), root, holes[int(m[1])][0])), html))  # noqa: S704


def _block(site: Site, kind: str, argument: str, root: str) -> Markup:
    answer = site.book.answer(kind, argument)
    if answer.touches:
        return touches(site, answer.touches)
    return Markup("<p>{}</p>").format(inline(site, answer, root, kind))


def touches(site: Site, found: Iterable[Touch]) -> Markup:
    """A table of places."""
    rows = Markup().join(
        Markup("<tr><td>{}<td><code>{}</code><td>{}").format(t.what, t.text, receipt(site.receipt(t.path, t.line))) for t in found
    )
    return Markup('<div class=scroll tabindex=0 role=region aria-label="Places"><table class=stack><thead><tr><th scope=col>What<th scope=col>'
                  "Name<th scope=col>Place</thead><tbody>{}</table></div>").format(rows)  # fmt: skip


def inline(site: Site, answer: Answer, root: str, kind: str) -> Markup:
    """One anchor within a sentence."""
    if answer.stale:
        return Markup('<span class="stale" title="{}">{} <em>(stale since {}: {})</em></span>').format(
            answer.stale, answer.text, site.catalog.source.tag, answer.stale
        )
    shown = Markup("<code>{}</code>").format(answer.text) if kind in ("op", "symbol", "path", "binding", "kernel", "node") else escape(answer.text)
    if kind == "count":
        return Markup('<b class=count title="{}">{}</b>').format(answer.receipt, answer.text)
    address = address_of(site, answer)
    linked = Markup('<a href="{}{}">{}</a>').format(root, urls.href(address), shown) if address else shown
    if answer.path and kind != "op":
        return linked + Markup(" ") + receipt(site.receipt(answer.path, answer.line))
    return linked


def address_of(site: Site, answer: Answer) -> str | None:
    """The page of this site that an answer leads to."""
    if answer.page is None:
        return None
    kind, key = answer.page
    match kind:
        case "operator":
            link = site.operator(key)
            return link.address if link else None
        case "file":
            return site.place(answer.path, answer.line)
        case "folder":
            return site.folder(key)
        case "guide":
            return guide_address(key)
        case _:
            return _PLATES.get(key)
