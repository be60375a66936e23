# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the guide: floors, ideas, journeys as a descent, stops of a line, and the page of reading lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cartographer.guide.texts import ANCHOR
from cartographer.render import urls
from cartographer.render.figures.lines import station_map
from cartographer.render.figures.stack import Box, stack
from cartographer.render.pages.frame import Link, Page, Receipt
from cartographer.render.prose import address_of, count_anchor, guide_address, to_html
from cartographer.render.terrain import ALL, FLOORS

if TYPE_CHECKING:
    from markupsafe import Markup

    from cartographer.guide.texts import Stop, Text
    from cartographer.render.site import Site

_SECTIONS = (("floor", "Eight floors"), ("idea", "Twelve ideas"), ("journey", "Journeys"), ("page", "Further pages"))


@dataclass(frozen=True, slots=True)
class StopView:
    """One stop of a journey as the page shows it."""

    title: str
    name: str
    address: str | None
    receipt: Receipt | None
    stale: str
    body: Markup


@dataclass(frozen=True, slots=True)
class Turn:
    """The texts before and after a text along one reading line; `colour` is "" along the texts of its kind."""

    colour: str
    before: Link | None
    after: Link | None


@dataclass(frozen=True, slots=True)
class Counted:
    """A number on the page, and how it was counted."""

    anchor: str
    number: str
    receipt: str


@dataclass(frozen=True, slots=True)
class FloorView:
    """Consecutive stops of a journey on one floor."""

    number: int
    name: str
    anchor: str
    stops: tuple[StopView, ...]


@dataclass(frozen=True, slots=True)
class GuidePage:
    """The content of the page of one guide text."""

    title: str
    body: Markup
    descent: tuple[FloorView, ...]
    line: str
    stops: tuple[Link, ...]  # of a reading line
    turns: tuple[Turn, ...]
    on: tuple[tuple[str, Link], ...]  # the lines that stop here: (colour, line)
    figure: str = ""
    counted: tuple[Counted, ...] = ()


@dataclass(frozen=True, slots=True)
class LineView:
    """One reading line on the page of reading lines."""

    colour: str
    link: Link
    says: Markup
    stops: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Claims:
    """A list of the guide's claims that do not resolve, with its heading; a row is (page, anchor, reason)."""

    anchor: str
    title: str
    says: str
    rows: tuple[tuple[Link, str, str], ...]


@dataclass(frozen=True, slots=True)
class LinesPage:
    """The content of the page of reading lines."""

    figure: str
    lines: tuple[LineView, ...]
    sections: tuple[tuple[str, tuple[Link, ...]], ...]
    claims: tuple[Claims, ...]


def link_of(text: Text) -> Link:
    """The link to the page of a guide text."""
    return Link(text.title, guide_address(text.slug))


def lines(site: Site) -> Page:
    """The page of reading lines: the lines as a station map, and the whole guide as a list."""
    book = site.book
    root = urls.root_from(urls.LINES)
    views = tuple(
        LineView(text.fields["colour"], link_of(text), to_html(site, text.body, root), _stops_of(site, text))
        for text in book.lines
    )
    sections = tuple((title, tuple(link_of(text) for text in book.of_kind(kind))) for kind, title in _SECTIONS)
    return Page(
        address=urls.LINES, template="lines.html.jinja2", title="Reading lines", plate=urls.LINES,
        description="Four ways through the source of PyTorch: for newcomers, for most readers, for speed, and from front to back.",
        view=LinesPage(station_map([(v.colour, [s.text for s in v.stops]) for v in views]), views, sections, _claims(site)),
        floors=ALL, says="The lines pass all floors.",
    )  # fmt: skip


def _claims(site: Site) -> tuple[Claims, ...]:
    book, tag = site.book, site.catalog.source.tag
    gone, absent = (tuple((link_of(book.by_slug[s.slug]), s.anchor, s.reason) for s in found) for found in (book.gone, book.absent))
    says = (f"The texts were written against another release. These claims are {book.standing(absent=False)}; the pages say so where they stand." if gone
            else f"Nothing: all claims that can be checked hold in {tag}.")  # fmt: skip
    found = [Claims("stale", "What does not hold", says, gone)]
    if absent:
        found.append(Claims("absent", "What a wheel cannot show", "This atlas was built from a wheel, which does not carry all sources. "
                            "An atlas of the repository can check these claims.", absent))  # fmt: skip
    return tuple(found)


def _stops_of(site: Site, line: Text) -> tuple[Link, ...]:
    return tuple(link_of(site.book.by_slug[slug]) for slug in line.line_stops if slug in site.book.by_slug)


def build(site: Site, slug: str) -> Page:
    """The page of one guide text."""
    text = site.book.by_slug[slug]
    address = guide_address(slug)
    root = urls.root_from(address)
    floors = tuple(sorted({stop.floor for stop in text.stops})) or ((int(text.fields["floor"]),) if text.kind == "floor" else ALL)
    on = tuple((line.fields["colour"], link_of(line)) for line in site.book.of_kind("line") if slug in line.line_stops)
    turns = _turns(site, text)
    return Page(
        address=address, template="guide.html.jinja2", title=text.title, plate=urls.LINES,
        description=_first_sentence(text), crumbs=(Link("Reading lines", urls.LINES),),
        view=GuidePage(
            text.title, to_html(site, text.body, root), _descent(site, text, root), text.fields.get("colour", ""), _stops_of(site, text),
            turns, on, _figure(site, text, root), _counted(site, text),
        ),
        floors=floors, says=_says(floors), descends=bool(text.stops),
        previous=turns[0].before.address if turns[0].before else "", following=turns[0].after.address if turns[0].after else "",
    )  # fmt: skip


def _figure(site: Site, text: Text, root: str) -> str:
    """The chart of a text that names boxes."""
    found = []
    for box in text.fields.get("boxes", ()):
        answer = site.book.at(box["at"])
        address = address_of(site, answer) if answer and not answer.stale else None
        beside = box.get("beside")
        found.append(Box(
            box["name"], box["says"], box["floor"], f"{root}{urls.href(address)}" if address else "", (beside[0], beside[1]) if beside else None,
            box.get("again", False),
        ))  # fmt: skip
    return stack(found) if found else ""


def _counted(site: Site, text: Text) -> tuple[Counted, ...]:
    """The numbers of a text, in the order in which they stand there."""
    found = {}
    for part in text.parts:
        for match in ANCHOR.finditer(part):
            answer = site.book.answer(match[1], match[2] or "")
            if match[1] == "count" and not answer.stale:
                found[count_anchor(answer)] = Counted(count_anchor(answer), answer.text, answer.receipt)
    return tuple(found.values())


def _turns(site: Site, text: Text) -> tuple[Turn, ...]:
    """Along every line that stops here, else among its kind."""
    rows = [(line.fields["colour"], line.line_stops) for line in site.book.lines if text.slug in line.line_stops]
    rows = rows or [("", tuple(t.slug for t in site.book.of_kind(text.kind)))]
    return tuple(_turn(site, colour, row, row.index(text.slug)) for colour, row in rows)


def _turn(site: Site, colour: str, row: tuple[str, ...], here: int) -> Turn:
    around = (row[here - 1] if here else "", row[here + 1] if here + 1 < len(row) else "")
    before, after = (link_of(site.book.by_slug[slug]) if slug in site.book.by_slug else None for slug in around)
    return Turn(colour, before, after)


def _descent(site: Site, text: Text, root: str) -> tuple[FloorView, ...]:
    found: list[FloorView] = []
    seen: set[int] = set()
    for stop in text.stops:
        view = _stop(site, stop, root)
        if found and found[-1].number == stop.floor:
            found[-1] = FloorView(stop.floor, found[-1].name, found[-1].anchor, (*found[-1].stops, view))
        else:
            anchor = "" if stop.floor in seen else f"floor-{stop.floor}"
            found.append(FloorView(stop.floor, FLOORS[stop.floor - 1], anchor, (view,)))
        seen.add(stop.floor)
    return tuple(found)


def _stop(site: Site, stop: Stop, root: str) -> StopView:
    answer = site.book.at(stop.at)
    body = to_html(site, stop.body, root)
    if answer is None or answer.stale:
        stale = site.book.standing(absent=True) if answer and answer.absent else f"{site.book.standing(absent=False)}: {answer.stale if answer else 'no such anchor'}"
        return StopView(stop.title, answer.text if answer else stop.at, None, None, stale, body)
    receipt = site.receipt(answer.path, answer.line) if answer.path else None
    return StopView(stop.title, answer.text, address_of(site, answer), receipt, "", body)


def _says(floors: tuple[int, ...]) -> str:
    if floors == ALL:
        return "This page is about all floors."
    names = [FLOORS[number - 1] for number in floors]
    return f"This page is on {', '.join(names[:-1])} and {names[-1]}." if len(names) > 1 else f"This page is on one floor: {names[0]}."


def _first_sentence(text: Text) -> str:
    plain = " ".join(line for line in text.body.splitlines() if line and not line.startswith(("#", "-", "|", "1.")))
    for mark in "*`":
        plain = plain.replace(mark, "")
    first = plain.split(". ")[0]
    return (first if "{" not in first and first else text.title)[:160]
