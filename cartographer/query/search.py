# SPDX-License-Identifier: BSD-3-Clause
"""`search`: what is called something like these words, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.store.search_words import KINDS, plain

if TYPE_CHECKING:
    from cartographer.store.reader import Reader
    from cartographer.store.values import Hit, Match


def search(reader: Reader, text: str, most: int = 20, kinds: tuple[str, ...] = KINDS) -> tuple[Hit, ...]:
    """The best `most` answers."""
    matches = sorted(reader.search.matches(text, kinds=kinds), key=lambda match: _rank(match, text.strip().lower()))
    return tuple(reader.search.hit(match) for match in matches[:most])


def _rank(match: Match, wanted: str) -> tuple[int, int, int, str]:
    """The whole name first, then its last part, then its beginning; operators before the rest; short names before long ones."""
    label = match.label.lower()
    last = plain(label).rpartition(".")[2] if match.kind != "file" else label.rpartition("/")[2]
    if wanted in {label, last}:
        likeness = 0
    elif last.startswith(wanted):
        likeness = 1
    elif wanted in last:
        likeness = 2
    else:
        likeness = 3
    return (likeness, KINDS.index(match.kind), len(label), label)
