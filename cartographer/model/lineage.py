# SPDX-License-Identifier: BSD-3-Clause
"""The lineage of operators: the release in which each was added, those in which it changed, and the one in which it was removed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CAME, NAMED, GONE = "came", "named", "gone"  # NAMED: an overload of a name that was there
# What a change of an operator's row is called in one line of history, by the beginning of the change's id; other
# changes (tags, flags, structured groups) are left to the comparison of two releases.
_WORDS = (
    ("op-added", CAME), ("overload-added", NAMED), ("op-removed", GONE), ("overload-removed", GONE),
    ("arg-", "schema"), ("default-", "schema"), ("return-", "schema"), ("alias-", "schema"), ("schema-", "schema"),
    ("variants-", "python"), ("python-module-", "python"),
    ("dispatch-", "backends"), ("effective-", "backends"), ("composite-", "backends"), ("kernel-", "backends"),
    ("derivative-", "gradient"),
)  # fmt: skip
WORDS = {
    "schema": "schema changed", "respelled": "schema respelled", "python": "Python names changed", "backends": "backends changed",
    "gradient": "gradient changed", CAME: "came back", NAMED: "came back", GONE: "gone",
}  # fmt: skip


EVER = "unknown before"  # of an operator that the first release has


@dataclass(frozen=True, slots=True)
class Lineage:
    """What happened to every operator over several releases. `releases` is empty when only one release was read."""

    releases: tuple[str, ...] = ()  # tags, in the order of versions
    first: frozenset[str] = frozenset()  # operators of the first one: before it nothing is known
    events: Mapping[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)  # operator -> (index of the release, word)
    unread: tuple[str, ...] = ()  # releases whose list could not be read
    _firsts: dict[str, str] = field(default_factory=dict, compare=False, repr=False)  # base name -> its first release, once asked

    def says(self, name: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """(what, the releases): `("since", ("v1.2.0",))`, `("schema changed", ("v1.5.0", "v1.7.0"))`, in the order of the first."""
        events = self.events.get(name, ())
        if name in self.first:
            rows: dict[str, list[str]] = {EVER: [self.releases[0]]}
        elif events and events[0][1] in (CAME, NAMED):
            rows = {"since" if events[0][1] == CAME else "this overload since": [self.releases[events[0][0]]]}
            events = events[1:]
        else:
            return ()
        for number, word in events:
            rows.setdefault(WORDS[word], []).append(self.releases[number])
        return tuple((what, tuple(when)) for what, when in rows.items())


    def since(self, base: str) -> str:
        """The first release that has an operator of this full name without overload; "" when none is known."""
        return self._bases().get(base, "")

    def _bases(self) -> Mapping[str, str]:
        if not self._firsts:
            for name in self.first:
                self._firsts[name.partition(".")[0]] = self.releases[0]
            for name, events in self.events.items():
                base, (number, word) = name.partition(".")[0], events[0]
                if word in (CAME, NAMED) and (base not in self._firsts or self.releases.index(self._firsts[base]) > number):
                    self._firsts[base] = self.releases[number]
        return self._firsts


def word_of(change_id: str, fold: str) -> str:
    """The word for a change, by its id, in an operator's line of history; "" when that line leaves it out."""
    word = next((word for start, word in _WORDS if change_id.startswith(start)), "")
    return "respelled" if word == "schema" and fold else "" if fold else word


def joined(releases: Iterable[str], first: frozenset[str], steps: Iterable[Mapping[str, Iterable[str]]], unread: Iterable[str] = ()) -> Lineage:
    """Build a lineage from what changed in each step from one release to the next."""
    events: dict[str, list[tuple[int, str]]] = {}
    for number, step in enumerate(steps, 1):
        for name, words in step.items():
            events.setdefault(name, []).extend((number, word) for word in words)
    return Lineage(tuple(releases), first, {name: tuple(found) for name, found in events.items()}, tuple(unread))
