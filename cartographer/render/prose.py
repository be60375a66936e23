# SPDX-License-Identifier: BSD-3-Clause
"""Turns guide texts into HTML: Markdown (the only home of markdown_it), anchors resolved, stale ones marked with the reason."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from cartographer.guide.suites import with_folder
from cartographer.guide.texts import ANCHOR
from cartographer.render import urls
from cartographer.render.environment import receipt, soft

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cartographer.guide.anchors import Answer
    from cartographer.guide.places import Reading, Touch
    from cartographer.render.site import Site

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_HOLE = re.compile(r"\ue000(\d+)\ue001")
_ALONE = re.compile(r"<p>\ue000(\d+)\ue001</p>")
_HEADING = re.compile(r"<h([23])>(.*?)</h\1>")
_CHECK = re.compile(r"<h3>Check</h3>\n(.*?)(?=<h[23]>|\Z)", re.DOTALL)  # the answer to a task: shown when asked for
_TASK = re.compile(r"<li>\[ \] (.*?)(?=\s*(?:\ue000\d+\ue001[,\s]*)*</li>)")  # something to tick; what it leads to stays outside of the label
_CODE = re.compile(r"<code>[^<]*</code>")
_OPTION = re.compile(r"(?<=[ >])(--?[a-z][\w-]*)")
_TABLE = re.compile(r"<table>(.*?)</table>", re.DOTALL)
_HEADS = {"contributing": ("Under the heading", "Command"), "layers": ("Layer, highest first", "Acts on")}
PLATES = {  # that a text may name: what each is called there, guide/anchors.py says
    "operators": urls.OPERATORS, "kernels": urls.KERNELS, "generated": urls.GENERATED, "strata": urls.STRATA, "checks": urls.CHECKS,
    "territory": urls.TERRITORY, "nodes": urls.NODES,
}  # fmt: skip


def guide_address(slug: str) -> str:
    """The address of a guide text's page; a part after `#` is kept as the anchor."""
    page, mark, anchor = slug.partition("#")
    return f"guide/{page}.html{mark}{slug_of(anchor)}" if mark else f"guide/{page}.html"


def slug_of(heading: str) -> str:
    """The anchor of a heading: its words in small letters, joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")


def to_html(site: Site, text: str, root: str) -> Markup:
    """The HTML of one guide text, for a page from which `root` leads to the site's root."""
    holes: list[tuple[str, str]] = []

    def keep(match: re.Match[str]) -> str:
        holes.append((match[1], match[2] or ""))
        return f"\ue000{len(holes) - 1}\ue001"

    html = _MARKDOWN.render(ANCHOR.sub(keep, text))
    html = _CHECK.sub(lambda m: f"<details class=check><summary>Check your answer</summary>\n{m[1]}</details>\n", html)
    html = _HEADING.sub(lambda m: f'<h{m[1]} id="{slug_of(_plain(m[2], holes))}">{m[2]}</h{m[1]}>', html)
    html = _TASK.sub(lambda m: f"<li class=tick><label><input type=checkbox> {m[1]}</label>", html)
    html = _CODE.sub(lambda m: _OPTION.sub(r"<span class=nb>\1</span>", m[0]), html)
    html = _TABLE.sub(lambda m: f'<div class=scroll tabindex=0 role=region aria-label="Table"><table class=stack>{m[1]}</table></div>', html)
    html = html.replace("<th>", "<th scope=col>")
    html = _ALONE.sub(lambda m: str(_block(site, *holes[int(m[1])], root)), html)
    # Markdown-it has escaped the text (html is off); what fills the holes is markup of our own making.
    return Markup(_HOLE.sub(lambda m: str(inline(site, site.book.answer(*holes[int(m[1])]), root, holes[int(m[1])][0])), html))  # noqa: S704


def _plain(heading: str, holes: list[tuple[str, str]]) -> str:
    return _HOLE.sub(lambda m: holes[int(m[1])][1], re.sub("<.*?>", "", heading))


def _block(site: Site, kind: str, argument: str, root: str) -> Markup:
    answer = site.book.answer(kind, argument)
    if answer.touches:
        return touches(site, answer.touches, *_HEADS.get(kind, ("What", "Name")))
    if answer.readings:
        return readings(site, answer.readings, root)
    return Markup("<p>{}</p>").format(inline(site, answer, root, kind))


def touches(site: Site, found: Iterable[Touch], first: str, second: str) -> Markup:
    """An HTML table of places to change."""
    rows = Markup().join(
        Markup("<tr><td>{}<td>{}<td>{}").format(t.what, _named(t), receipt(site.receipt(t.path, t.line))) for t in found
    )
    return _table("Places", (first, second, "Place"), rows)


def _named(touch: Touch) -> Markup:
    return escape(with_folder(touch.text, touch.path)) if touch.words else Markup("<code>{}</code>").format(soft(touch.text))


def readings(site: Site, found: Sequence[Reading], root: str) -> Markup:
    """An HTML table of files in reading order. A column of which nothing is known (dates, owners) is left out."""
    dated, owned = any(r.born or r.changed for r in found), any(r.owner for r in found)
    heads = ("", "File", "Lines", "Operators", *(("From", "Last change") if dated else ()), *(("Who is asked",) if owned else ()))
    rows = Markup().join(_reading_row(site, number, reading, root, dated=dated, owned=owned) for number, reading in enumerate(found, 1))
    return _table("Files in reading order", heads, rows, "stack reading dated" if dated else "stack reading")


def _reading_row(site: Site, number: int, reading: Reading, root: str, *, dated: bool, owned: bool) -> Markup:
    head = Markup("<tr><td>{}<td>").format(number)
    if reading.missing:
        answer = site.book.answer("path", reading.path)
        return head + Markup("{}<td><td>{}{}").format(_stale(site, answer), Markup("<td><td>") if dated else "", Markup("<td>") if owned else "")
    cells = _file(site, reading.path, reading.line, root)
    cells += Markup("").join(Markup("<td class=n>{}").format(f"{number:,}" if number else "") for number in (reading.lines, reading.operators))
    if dated:
        cells += Markup("<td>{}<td>{}").format(reading.born[:10], reading.changed[:10])
    if owned:
        owner = reading.owner
        cells += Markup("<td>{} {}").format(owner.text, receipt(site.receipt(owner.path, owner.line))) if owner else Markup("<td>")
    return head + cells


def _file(site: Site, path: str, line: int, root: str) -> Markup:
    """The name of a file as a link to its page, with the receipt of a line; without a page, to the file itself. Its name stands there once."""
    name, place, address = Markup("<code>{}</code>").format(soft(path)), site.receipt(path, line), site.place(path, line)
    if address:
        linked = Markup('<a href="{}{}">{}</a>').format(root, urls.href(address), name)
        return linked + Markup(" ") + receipt(place._replace(text=f"line {line}")) if line else linked
    return Markup('<a href="{}">{}</a>').format(place.url, name) if place.url else name


def _table(label: str, heads: Iterable[str], rows: Markup, kind: str = "stack") -> Markup:
    columns = Markup().join(Markup("<th scope=col>{}").format(head) if head else Markup("<td>") for head in heads)
    return Markup('<div class=scroll tabindex=0 role=region aria-label="{}"><table class="{}"><thead><tr>{}</thead><tbody>{}</table></div>').format(
        label, kind, columns, rows)  # fmt: skip


def _stale(site: Site, answer: Answer) -> Markup:
    if answer.absent:
        return Markup("{} <em>({})</em>").format(answer.text, site.book.standing(absent=True))
    return Markup('<span class="stale">{} <em>({}: {})</em></span>').format(answer.text, site.book.standing(absent=answer.absent), answer.stale)


def inline(site: Site, answer: Answer, root: str, kind: str) -> Markup:
    """The HTML of one anchor within a sentence."""
    if answer.stale:
        return _stale(site, answer)
    named = kind in ("op", "symbol", "path", "binding", "kernel", "node") or (kind == "compiled" and answer.path)
    shown = Markup("<code>{}</code>").format(answer.text) if named and answer.text else escape(answer.text)
    if kind == "count":
        return Markup('<a class=count href="#{}" title="{}">{}</a>').format(count_anchor(answer), answer.receipt, answer.text)
    address = address_of(site, answer)
    if kind == "path" and answer.path == answer.text and not answer.line:
        return _file(site, answer.path, 0, root)
    linked = Markup('<a href="{}{}">{}</a>').format(root, urls.href(address), shown) if address else shown
    if answer.path and kind not in ("op", "term"):
        return linked + Markup(" ") + receipt(site.receipt(answer.path, answer.line))
    return linked


def count_anchor(answer: Answer) -> str:
    """The anchor at which the page says how a number was counted."""
    return f"counted-{slug_of(answer.receipt)[:60]}"


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
            return PLATES.get(key)
