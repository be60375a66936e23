# SPDX-License-Identifier: BSD-3-Clause
"""`search`: what is called something like these words, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartographer.store.search_words import KINDS, plain

if TYPE_CHECKING:
    from cartographer.store.reader import Reader
    from cartographer.store.values import Hit, Match


def search(reader: Reader, text: str, most: int = 20, kinds: tuple[str, ...] = KINDS) -> tuple[Hit, ...]:
    """The best `most` answers. When no name holds all words, those that hold most of them."""
    wanted = text.strip().lower()
    matches = list(reader.search.matches(text, kinds=kinds))
    if not matches and len(wanted.split()) > 1:
        matches = list(reader.search.matches(text, kinds=kinds, any_word=True))
        held = {match: sum(word in match.label.lower() for word in wanted.split()) for match in matches}
        best = max(held.values(), default=0)
        matches = [match for match in matches if held[match] == best]
    matches.sort(key=lambda match: _rank(match, wanted))
    return tuple(reader.search.hit(match) for match in matches[:most])


def _rank(match: Match, wanted: str) -> tuple[int, int, int, str]:
    """The whole name first, then its last part, then its beginning; operators before the rest; short names before long ones."""
    label = match.label.lower()
    last = plain(label).rpartition(".")[2] if match.kind != "file" else label.rpartition("/")[2]
    parts = wanted.replace("::", " ").split()
    if wanted in {label, last} or label.endswith("::" + wanted):
        likeness = 0
    elif last.startswith(wanted):
        likeness = 1
    elif wanted in last:
        likeness = 2
    elif len(parts) > 1 and parts[-1] == last:  # CUDACachingAllocator malloc
        likeness = 2
    elif all(part in last for part in parts):
        likeness = 3
    else:
        likeness = 4
    return (likeness, KINDS.index(match.kind), len(label), label)
