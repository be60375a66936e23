# SPDX-License-Identifier: BSD-3-Clause
"""The guide as one atlas can tell it: texts with all their anchors answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from cartographer.guide.anchors import Answer, Resolver, Stale
from cartographer.guide.texts import ANCHOR, Text, load

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cartographer.store.reader import Reader


@dataclass(frozen=True)
class Book:
    """All texts and answers. Empty: an atlas without a guide."""

    texts: tuple[Text, ...] = ()
    answers: Mapping[tuple[str, str], Answer] = field(default_factory=dict)
    stale: tuple[Stale, ...] = ()

    @cached_property
    def by_slug(self) -> Mapping[str, Text]:
        """Texts by slug."""
        return {text.slug: text for text in self.texts}

    def of_kind(self, kind: str) -> tuple[Text, ...]:
        """The texts of a kind, by their number, then slug."""
        return tuple(sorted((t for t in self.texts if t.kind == kind), key=lambda t: (t.number, t.slug)))

    def answer(self, kind: str, argument: str) -> Answer:
        """The answer to an anchor that stands in one of the texts."""
        return self.answers[kind, argument]

    def at(self, anchor: str) -> Answer | None:
        """The answer to an anchor as written, braces included."""
        found = ANCHOR.fullmatch(anchor.strip())
        return self.answers.get((found[1], found[2] or "")) if found else None


def read(reader: Reader, folder: Path | None = None) -> Book:
    """Resolve the whole guide in one atlas."""
    texts = load(folder)
    resolver = Resolver(reader, texts)
    stale = tuple(resolver.check())
    return Book(texts, resolver.known, stale)
