# SPDX-License-Identifier: BSD-3-Clause
"""Follows one operator over many releases: when it was added, what changed, when it was removed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from cartographer.compare.operators import compare
from cartographer.compare.schemas import parsed
from cartographer.model.oplist import OperatorList

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cartographer.model.change import Change


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to an operator in the step to `release`; without changes it is the first release that was looked at."""

    release: str
    previous: str | None
    present: bool
    schema: str | None
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    """The events of one overload, oldest first."""

    name: str
    events: tuple[Event, ...]
    namesakes: tuple[str, ...] = ()  # schemas of overloads that once had this very name too
    before: str = ""  # the name without overload under which the release before already had these arguments

    @property
    def says(self) -> str:
        """A sentence that says since when and until when the overload exists."""
        first, last = self.events[0], self.events[-1]
        if self.before and last.present:
            return f"since {first.release} under this name; {first.previous} has it as {self.before}"
        since = f"in {first.release} already; unknown before {first.release}" if first.previous is None else f"since {first.release} (not in {first.previous})"
        return since if last.present else f"{since}; gone in {last.release} (last in {last.previous})"


def timelines(lists: Sequence[OperatorList], names: Sequence[str]) -> tuple[Timeline, ...]:
    """The timelines of the overloads that `names` means: full names, or base names for all their overloads."""
    wanted = {name if "::" in name else f"aten::{name}" for name in names}
    matching = sorted({n for side in lists for n in side.rows if n in wanted or n.partition(".")[0] in wanted})
    small = [_only(side, matching) for side in lists]
    return tuple(_timeline(name, lists, small) for name in matching)


def _timeline(name: str, lists: Sequence[OperatorList], small: Sequence[OperatorList]) -> Timeline:
    events = tuple(_events(name, small))
    namesakes = dict.fromkeys(schema for side in lists if name in side.rows for schema in side.rows[name].namesakes)
    return Timeline(name, events, tuple(namesakes), _before(name, events[0], lists))


def _before(name: str, first: Event, lists: Sequence[OperatorList]) -> str:
    """The name without overload, where the release before `first` gave it to the same arguments."""
    base = name.partition(".")[0]
    row = next((side.rows[base] for side in lists if side.tag == first.previous and base in side.rows), None)
    if row is None or base == name or first.schema is None:
        return ""
    arguments = _arguments(first.schema)
    return base if arguments is not None and arguments in map(_arguments, (row.schema, *row.namesakes)) else ""


def _arguments(schema: str) -> tuple[tuple[str, str], ...] | None:
    whole = parsed(schema)
    return tuple((a.type, a.name) for a in whole.arguments) if whole is not None else None


def _only(side: OperatorList, names: Sequence[str]) -> OperatorList:
    """The list cut to some operators and those that they delegate to."""
    rows = {n: side.rows[n] for n in names if n in side.rows}
    for row in tuple(rows.values()):
        delegate = f"aten::{row.structured_delegate}"
        if delegate in side.rows:
            rows[delegate] = side.rows[delegate]
    return OperatorList(side.version, side.tag, side.commit, side.web, rows)


def _events(name: str, lists: Sequence[OperatorList]) -> Iterator[Event]:
    first = lists[0]
    if name in first.rows:
        yield Event(first.tag, None, True, first.rows[name].schema)
    for old, new in pairwise(lists):
        row = new.rows.get(name)
        changes = tuple(c for c in compare(old, new).changes if c.op == name)
        if changes:
            yield Event(new.tag, old.tag, row is not None, row.schema if row else None, changes)
