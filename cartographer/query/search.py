# SPDX-License-Identifier: BSD-3-Clause
"""Answers `search`: what has a name with words like these, best first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cartographer.query import operators
from cartographer.query.ink import short
from cartographer.store.search_words import KINDS, plain
from cartographer.store.values import Hit, Match

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cartographer.query.ink import Ink
    from cartographer.store.reader import Reader

_WHOLE = 0  # likeness of what has the whole name


def search(reader: Reader, text: str, most: int = 20, kinds: tuple[str, ...] = KINDS) -> tuple[Hit, ...]:
    """The best answers, at most `most`: where nothing has the whole name, first what `where` understands by it (`F.softmax`, `x[mask]`).
    When no name contains all words, those that contain most of them.
    """
    wanted = text.strip().lower()
    matches = list(reader.search.matches(text, kinds=kinds))
    if not matches and len(wanted.split()) > 1:
        matches, wanted = _most_words(reader.search.matches(text, kinds=kinds, any_word=True), wanted.split())
    matches.sort(key=lambda match: _rank(match, wanted))
    meant = () if matches and _rank(matches[0], wanted)[0] == _WHOLE else _understood(reader, text, kinds)
    known = {(hit.kind, hit.label, hit.path, hit.line) for hit in meant}
    found = (hit for match in matches[: most + len(meant)] if (hit := reader.search.hit(match)) and (hit.kind, hit.label, hit.path, hit.line) not in known)
    return (*meant, *found)[:most]


def _understood(reader: Reader, text: str, kinds: tuple[str, ...]) -> tuple[Hit, ...]:
    """The operators that `where` finds by this name, with how the name was understood, and the Python function on the way."""
    named = operators.resolve(reader.lookup, text)
    if named is None:
        return ()
    bases = dict.fromkeys(name.partition(".")[0] for name in named.names) if "operator" in kinds else ()
    hits = (reader.search.hit(Match("operator", 0, base)) for base in bases)
    on_the_way = [(t, reader.lookup.symbol_at(t.path, t.line)) for t in named.through if "symbol" in kinds]
    through = (Hit("symbol", t.name, found.kind if found else "", t.path, t.line) for t, found in on_the_way)
    return (*(replace(hit, detail=f"{hit.detail}; {named.said}") for hit in hits), *through)


def as_json(found: Iterable[Hit]) -> list[dict[str, Any]]:
    """The found names as a JSON value."""
    return [{"kind": h.kind, "name": h.label, "detail": h.detail, "path": h.path, "line": h.line, "operators": list(h.operators)} for h in found]


def text(found: Iterable[Hit], ink: Ink) -> Iterator[str]:
    """The found names as lines for people: name, kind, place."""
    for hit in found:
        place = f"{hit.path}:{hit.line}" if hit.path else short(hit.operators, 3)
        yield f"{hit.kind:<9}  {ink.strong(hit.label)}  {ink.place(place) if hit.path else place}  {ink.faint(hit.detail)}".rstrip()


def _most_words(matches: tuple[Match, ...], words: list[str]) -> tuple[list[Match], str]:
    """The matches that hold most words, rare words counting for more; and the rarest word, by which they are ranked."""
    found = {word: sum(word in match.label.lower() for match in matches) for word in words}
    rarest = min((word for word in words if found[word]), key=lambda word: found[word], default="")
    held = {match: sum(1 / found[word] for word in words if word in match.label.lower()) for match in matches}
    best = max(held.values(), default=0.0)
    return [match for match in matches if held[match] == best], rarest


def _rank(match: Match, wanted: str) -> tuple[int, int, int, str]:
    """The whole name first, then its last part, then its beginning; operators before the rest; short names before long ones."""
    label = match.label.lower()
    last = plain(label).rpartition(".")[2] if match.kind != "file" else label.rpartition("/")[2]
    parts = wanted.replace("::", " ").split()
    if wanted in {label, last} or label.endswith("::" + wanted):
        likeness = _WHOLE
    elif last.startswith(wanted):
        likeness = 1
    elif wanted in last or (len(parts) > 1 and parts[-1] == last):  # CUDACachingAllocator malloc
        likeness = 2
    elif all(part in last for part in parts):
        likeness = 3
    else:
        likeness = 4
    return (likeness, KINDS.index(match.kind), len(label), label)
