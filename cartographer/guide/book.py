# SPDX-License-Identifier: BSD-3-Clause
"""The guide as it reads for one atlas: all texts with their anchors resolved."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from cartographer.guide.anchors import Answer, Resolver, Stale
from cartographer.guide.texts import ANCHOR, WRITTEN_FOR, Text, load

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cartographer.store.reader import Reader


COLOURS = ("blue", "orange", "green", "grey")


@dataclass(frozen=True)
class Book:
    """All texts of the guide with the answers to their anchors. Empty for an atlas without a guide."""

    texts: tuple[Text, ...] = ()
    answers: Mapping[tuple[str, str], Answer] = field(default_factory=dict)
    stale: tuple[Stale, ...] = ()
    tag: str = ""
    version: str = ""

    @cached_property
    def by_slug(self) -> Mapping[str, Text]:
        """The texts of the guide, by slug."""
        return {text.slug: text for text in self.texts}

    def of_kind(self, kind: str) -> tuple[Text, ...]:
        """The texts of one kind, sorted by their number, then slug."""
        return tuple(sorted((t for t in self.texts if t.kind == kind), key=lambda t: (t.number, t.slug)))

    def answer(self, kind: str, argument: str) -> Answer:
        """The answer to an anchor in one of the texts."""
        return self.answers[kind, argument]

    @cached_property
    def gone(self) -> tuple[Stale, ...]:
        """The claims that do not hold in this atlas."""
        return tuple(stale for stale in self.stale if not stale.absent)

    @cached_property
    def absent(self) -> tuple[Stale, ...]:
        """The claims that cannot be checked, since a wheel does not carry their sources."""
        return tuple(stale for stale in self.stale if stale.absent)

    @cached_property
    def lines(self) -> tuple[Text, ...]:
        """The reading lines (routes through the guide), the one for newcomers first."""
        return tuple(sorted(self.of_kind("line"), key=lambda t: COLOURS.index(t.fields["colour"])))

    def standing(self, *, absent: bool) -> str:
        """What to say of a claim that does not hold: the texts were written for one release, and this may be an older or a newer one."""
        if absent:
            return "not in a wheel"
        return f"not in {self.tag}" if _numbers(self.version) < _numbers(WRITTEN_FOR) else f"stale in {self.tag}"

    def at(self, anchor: str) -> Answer | None:
        """The answer to an anchor as the text has it, with braces."""
        found = ANCHOR.fullmatch(anchor.strip())
        return self.answers.get((found[1], found[2] or "")) if found else None


def read(reader: Reader, folder: Path | None = None, medium: str = "page") -> Book:
    """Read the whole guide, as it reads on pages or in a terminal, and resolve its anchors in one atlas."""
    texts = load(folder, medium)
    resolver = Resolver(reader, texts)
    stale = tuple(resolver.check())
    source = reader.info().source
    return Book(texts, resolver.known, stale, source.tag, source.version)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
