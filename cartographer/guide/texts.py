# SPDX-License-Identifier: BSD-3-Clause
"""Reads the texts under site/guide: TOML between lines of `+++`, then Markdown with anchors such as {op:addmm}."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cartographer import resources
from cartographer.errors import RenderError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ANCHOR = re.compile(r"\{([a-z]+)(?::([^{}\n]+))?\}")
CHECK = "### Check\n"  # what follows answers the task before it
WRITTEN_FOR = "2.6.0"  # the release that the texts were written against
# What holds on a page alone or in a terminal alone: `[[page:, or paste it into the search box]]`.
_MARKED = re.compile(r"\[\[(page|terminal):([^\[\]\n]*)\]\]")
_HEAD = re.compile(r"\A\+\+\+\n(.*?)\n\+\+\+\n", re.DOTALL)
_STOP = re.compile(r"^## (?P<title>.+)\n@ floor=(?P<floor>[1-8]) (?P<at>\{.+\})\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop of a journey: its place, its floor, and what happens there."""

    title: str
    floor: int
    at: str  # an anchor
    body: str


@dataclass(frozen=True, slots=True)
class Text:
    """One page of the guide. `slug` is its path below site/guide without `.md`."""

    slug: str
    title: str
    kind: str  # floor | idea | journey | line | stop | page
    words: tuple[str, ...]  # what people would type to find it
    fields: Mapping[str, Any]
    body: str
    stops: tuple[Stop, ...] = ()

    @property
    def number(self) -> int:
        """The number by which texts of one kind are sorted."""
        return int(self.fields.get("number", self.fields.get("floor", 0)))

    @property
    def parts(self) -> tuple[str, ...]:
        """All parts of the text that may contain anchors."""
        return (self.body, *(part for stop in self.stops for part in (stop.at, stop.body)), *(box["at"] for box in self.fields.get("boxes", ())))

    @property
    def line_stops(self) -> tuple[str, ...]:
        """The slugs of the stops, when the text is a reading line."""
        return tuple(self.fields.get("stops", ()))


def load(folder: Path | None = None, medium: str = "page") -> tuple[Text, ...]:
    """Read all texts, sorted by slug, as they read on a page or in a terminal. Raises RenderError for a text that cannot be read."""
    folder = folder or resources.folder("site") / "guide"
    return tuple(
        _text(path.relative_to(folder).with_suffix("").as_posix(), _read_on(medium, path.read_text(encoding="utf-8"))) for path in sorted(folder.rglob("*.md"))
    )


def _read_on(medium: str, source: str) -> str:
    return _MARKED.sub(lambda m: m[2] if m[1] == medium else "", source)


def _text(slug: str, source: str) -> Text:
    head = _HEAD.match(source)
    if head is None:
        raise RenderError("a guide text begins with TOML between lines of +++", where=f"site/guide/{slug}.md")
    try:
        fields = tomllib.loads(head[1])
        title, kind, words = fields.pop("title"), fields.pop("kind"), tuple(fields.pop("words", ()))
        text = Text(slug, title, kind, words, fields, "")
        _ = text.number, text.parts, text.line_stops
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise RenderError(f"its head cannot be read: {error}", where=f"site/guide/{slug}.md") from error
    if not all(isinstance(part, str) for part in (title, kind, *words, *text.parts, *text.line_stops)):
        raise RenderError("its head holds something else than text where text belongs", where=f"site/guide/{slug}.md")
    rest = source[head.end() :].strip() + "\n"
    found = list(_STOP.finditer(rest))
    ends = [*(m.start() for m in found[1:]), len(rest)]
    stops = tuple(
        Stop(m["title"], int(m["floor"]), m["at"], rest[m.end() : end].strip()) for m, end in zip(found, ends, strict=False)
    )
    body = rest[: found[0].start()].strip() if found else rest
    return replace(text, body=body, stops=stops)


def glossary_terms(texts: tuple[Text, ...]) -> frozenset[str]:
    """The terms that the glossary explains: its headings."""
    return frozenset(
        line.removeprefix("## ").strip() for text in texts if text.slug == "pages/glossary" for line in text.body.splitlines() if line.startswith("## ")
    )
