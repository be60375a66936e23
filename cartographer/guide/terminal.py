# SPDX-License-Identifier: BSD-3-Clause
"""Guide texts as plain lines for a terminal."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Protocol

from cartographer.errors import NotFound
from cartographer.guide.texts import ANCHOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cartographer.guide.anchors import Answer
    from cartographer.guide.book import Book
    from cartographer.guide.texts import Text

_WIDTH = 100


class Paint(Protocol):
    """What colours a terminal offers."""

    def strong(self, text: str) -> str:
        """A heading."""

    def faint(self, text: str) -> str:
        """A receipt."""


def line(book: Book, colour: str, paint: Paint) -> Iterator[str]:
    """One reading line with all its stops."""
    found = next((text for text in book.of_kind("line") if text.fields["colour"] == colour), None)
    if found is None:
        raise NotFound(f"the guide has no {colour} line")
    yield paint.strong(found.title)
    yield from _body(book, found.body, paint)
    for number, slug in enumerate(found.line_stops, 1):
        stop = book.by_slug.get(slug)
        if stop is not None:
            yield ""
            yield paint.strong(f"{number}. {stop.title}")
            yield from _text(book, stop, paint)


def _text(book: Book, text: Text, paint: Paint) -> Iterator[str]:
    yield from _body(book, text.body, paint)
    for stop in text.stops:
        answer = book.at(stop.at)
        yield ""
        yield f"   floor {stop.floor}  {paint.strong(stop.title)}  {paint.faint(_place(answer)) if answer else ''}"
        yield from _body(book, stop.body, paint)


def _body(book: Book, body: str, paint: Paint) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", body):
        if not paragraph.strip():
            continue
        if paragraph.startswith("#"):
            yield ""
            yield f"   {paint.strong(paragraph.lstrip('# ').strip())}"
            continue
        for row in paragraph.split("\n"):
            block = ANCHOR.fullmatch(row.strip())
            answer = book.answers.get((block[1], block[2] or "")) if block else None
            if answer is not None and answer.touches:
                yield from (f"     {t.what:<24} {t.path}:{t.line}  {paint.faint(t.text)}" for t in answer.touches)
            else:
                plain = ANCHOR.sub(lambda m: _inline(book.answer(m[1], m[2] or "")), row).replace("**", "").replace("`", "")
                yield from textwrap.wrap(plain, _WIDTH, initial_indent="   ", subsequent_indent="   ", break_long_words=False, break_on_hyphens=False)


def _inline(answer: Answer) -> str:
    place = _place(answer)
    return f"{answer.text} ({place})" if place and place != answer.text else answer.text


def _place(answer: Answer) -> str:
    if answer.stale:
        return f"stale: {answer.stale}"
    return f"{answer.path}:{answer.line}" if answer.line else answer.path
