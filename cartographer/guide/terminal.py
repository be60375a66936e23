# SPDX-License-Identifier: BSD-3-Clause
"""Prints guide texts as plain lines for a terminal."""

from __future__ import annotations

import re
import shutil
import textwrap
from typing import TYPE_CHECKING, Protocol

from cartographer.errors import NotFound
from cartographer.guide.texts import ANCHOR, CHECK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cartographer.guide.anchors import Answer
    from cartographer.guide.book import Book
    from cartographer.guide.places import Reading, Touch
    from cartographer.guide.texts import Text

_INDENT = "   "
_ITEM = re.compile(r"^(?:- |\d+\. )")
_FIRST = 22  # columns of the first column of a table


class Paint(Protocol):
    """The styles of text that a terminal offers."""

    def strong(self, text: str) -> str:
        """A text in the style of a heading."""

    def faint(self, text: str) -> str:
        """A text in the style of a side remark, such as how a number was counted."""


def width() -> int:
    """The number of columns to write in: those of the terminal, at most 100."""
    return max(40, min(100, shutil.get_terminal_size((80, 24)).columns))


def line(book: Book, colour: str, paint: Paint) -> Iterator[str]:
    """One reading line (a route through the guide) with all its stops."""
    found = next((text for text in book.of_kind("line") if text.fields["colour"] == colour), None)
    if found is None:
        raise NotFound(f"the guide has no {colour} line")
    yield paint.strong(found.title)
    yield from _body(book, found.body, paint)
    answers = []
    for number, slug in enumerate(found.line_stops, 1):
        stop = book.by_slug.get(slug)
        if stop is not None:
            told, _, check = stop.body.partition(CHECK)
            yield from ("", "", paint.strong(f"{number}. {stop.title}"))
            yield from _text(book, stop, told, paint)
            if check:
                yield from ("", f"{_INDENT}{paint.faint(f'The answer stands at the end, under {number}.')}")
                answers.append((number, stop.title, check))
    if answers:
        yield from ("", "", paint.strong("Answers"))
    for number, title, check in answers:
        yield from ("", f"{number}. {title}")
        yield from _body(book, check, paint)
    if elsewhere := _elsewhere(book, found):
        yield from ("", "", *remark(f"Pages of the atlas that are named here, and no part of this line: {'; '.join(elsewhere)}. cartographer serve shows them.", paint))


def _elsewhere(book: Book, line: Text) -> list[str]:
    """The names of pages to which a line's texts lead and which a terminal does not show, in the order in which they come."""
    stops = [line, *(book.by_slug[slug] for slug in line.line_stops if slug in book.by_slug)]
    shown = {text.slug for text in stops}
    anchors = dict.fromkeys((m[1], m[2] or "") for text in stops for part in text.parts for m in ANCHOR.finditer(part) if m[1] in {"page", "guide"})
    return list(dict.fromkeys(book.answer(*key).text for key in anchors if key[0] == "page" or key[1].partition("#")[0] not in shown))


def remark(words: str, paint: Paint) -> Iterator[str]:
    """The lines of a remark beside a table."""
    yield from map(paint.faint, textwrap.wrap(words, width(), initial_indent=_INDENT, subsequent_indent=_INDENT))


def table(touches: Iterable[Touch], paint: Paint) -> Iterator[str]:
    """The lines of a table of places: each place in one line where it fits, else below the name."""
    columns, inner = width(), " " * (len(_INDENT) + _FIRST + 1)
    for touch in touches:
        head, place = f"{_INDENT}{touch.what:<{_FIRST}} {touch.text}", f"{touch.path}:{touch.line}" if touch.line else touch.path
        if len(touch.what) <= _FIRST and len(head) + 2 + len(place) <= columns:
            yield f"{head}  {paint.faint(place)}"
            continue
        if len(touch.what) > _FIRST:
            yield f"{_INDENT}{touch.what}"
        # As an indent, not as text: before a word that fits in no line, textwrap would drop the spaces.
        start = inner if len(touch.what) > _FIRST else head.removesuffix(touch.text)
        yield from textwrap.wrap(touch.text, columns, initial_indent=start, subsequent_indent=inner + "  ", break_long_words=False, break_on_hyphens=False) or [start.rstrip()]
        yield f"{inner}{paint.faint(place)}"


def _readings(readings: Iterable[Reading], paint: Paint) -> Iterator[str]:
    for number, reading in enumerate(readings, 1):
        yield f"{_INDENT}{number:>2}. {reading.path}{f':{reading.line}' if reading.line else ''}"
        facts = [
            f"{reading.lines:,} lines" if reading.lines else "", f"{reading.operators:,} operators" if reading.operators else "",
            f"from {reading.born[:10]}" if reading.born else "", f"changed {reading.changed[:10]}" if reading.changed else "",
            f"ask {reading.owner.text}" if reading.owner else "", reading.missing,
        ]  # fmt: skip
        if any(facts):
            yield f"{_INDENT}    {paint.faint(', '.join(fact for fact in facts if fact))}"


def _text(book: Book, text: Text, body: str, paint: Paint) -> Iterator[str]:
    yield from _body(book, body, paint)
    for stop in text.stops:
        answer = book.at(stop.at)
        yield ""
        yield f"{_INDENT}floor {stop.floor}  {paint.strong(stop.title)}"
        if answer:
            yield from map(paint.faint, textwrap.wrap(_place(book, answer), width(), initial_indent=_INDENT, subsequent_indent=_INDENT * 2, break_on_hyphens=False))
        yield from _body(book, stop.body, paint)
    yield from _counted(book, text, paint)


def _counted(book: Book, text: Text, paint: Paint) -> Iterator[str]:
    """How the numbers of a text were counted."""
    anchors = dict.fromkeys(m[2] for part in text.parts for m in ANCHOR.finditer(part) if m[1] == "count")
    for answer in (book.answer("count", name) for name in anchors):
        if answer.receipt:
            yield from map(paint.faint, textwrap.wrap(f"{answer.text}: {answer.receipt}", width(), initial_indent=_INDENT, subsequent_indent=_INDENT * 2))


def _body(book: Book, body: str, paint: Paint) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", body):
        rows = paragraph.strip().split("\n")
        if rows[0]:
            yield ""
        if rows[0].startswith("#"):
            yield f"{_INDENT}{paint.strong(_plain(book, rows.pop(0).lstrip('# '), places=False))}"
        for row in rows:
            yield from _row(book, row, paint)


def _row(book: Book, row: str, paint: Paint) -> Iterator[str]:
    block = ANCHOR.fullmatch(row.strip())
    answer = book.answers.get((block[1], block[2] or "")) if block else None
    if answer is not None and answer.touches:
        yield from table(answer.touches, paint)
    elif answer is not None and answer.readings:
        yield from _readings(answer.readings, paint)
    elif not re.fullmatch(r"[|\s:-]+", row):
        item = _ITEM.match(row)
        hanging = _INDENT + " " * len(item[0]) if item else _INDENT
        yield from textwrap.wrap(_plain(book, row), width(), initial_indent=_INDENT, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)


def _plain(book: Book, text: str, *, places: bool = True) -> str:
    filled = ANCHOR.sub(lambda m: _inline(book, book.answer(m[1], m[2] or ""), places=places), text)
    return re.sub(r"\*([^*\s][^*]*)\*", r"\1", filled.replace("**", "")).replace("`", "")


def _inline(book: Book, answer: Answer, *, places: bool) -> str:
    place = _place(book, answer) if places else ""
    return f"{answer.text} ({place})" if place and place != answer.text else answer.text


def _place(book: Book, answer: Answer) -> str:
    if answer.stale:
        return book.standing(absent=True) if answer.absent else f"{book.standing(absent=False)}: {answer.stale}"
    return f"{answer.path}:{answer.line}" if answer.line else answer.path
